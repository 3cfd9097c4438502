// task: ../tasks/matmul_i8.yaml
// expect: correctness_mismatch
// bug: both halves of B come from the first
// @launch matmul_i8_mma<<<dim3(ceil_div(N, 8), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)
__device__ unsigned pack4(const signed char* source, int row, int rows, int k, int K, int row_stride, int k_stride) {
  unsigned word = 0;
  for (int i = 0; i < 4; i++)
    if (row < rows && k + i < K) {
      const unsigned char byte = static_cast<unsigned char>(source[row * row_stride + (k + i) * k_stride]);
      word |= static_cast<unsigned>(byte) << (8 * i);
    }
  return word;
}

extern "C" __global__ void matmul_i8_mma(const signed char* A, const signed char* B, int* C, int M, int N, int K) {
  const int lane = threadIdx.x, group = lane / 4, t = lane % 4;
  const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
  int c[4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = pack4(A, row0 + group + i % 2 * 8, M, k0 + t * 4 + i / 2 * 16, K, K, 1);
    for (int i = 0; i < 2; i++) b[i] = pack4(B, col0 + group, N, k0 + t * 4, K, 1, N);
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  for (int i = 0; i < 4; i++) {
    const int row = row0 + group + i / 2 * 8, col = col0 + t * 2 + i % 2;
    if (row < M && col < N) C[row * N + col] = c[i];
  }
}
