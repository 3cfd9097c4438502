// task: ../tasks/matmul_tf32.yaml
// expect: memory_safety_error
// bug: B is read past its last row
// @launch matmul_tf32<<<dim3(ceil_div(N, 8), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)
__device__ unsigned to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}

extern "C" __global__ void matmul_tf32(const float* A, const float* B, float* C, int M, int N, int K) {
  const int lane = threadIdx.x, group = lane / 4, t = lane % 4;
  const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 8;
  float c[4] = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) {
      const int row = row0 + group + i % 2 * 8, k = k0 + t + i / 2 * 4;
      a[i] = to_tf32(row < M && k < K ? A[row * K + k] : 0.0f);
    }
    for (int i = 0; i < 2; i++) {
      const int k = k0 + t + i * 4, col = col0 + group;
      b[i] = to_tf32(B[k * N + col]);
    }
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  for (int i = 0; i < 4; i++) {
    const int row = row0 + group + i / 2 * 8, col = col0 + t * 2 + i % 2;
    if (row < M && col < N) C[row * N + col] = c[i];
  }
}
