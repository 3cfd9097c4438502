// task: ../tasks/matmul_bf16.yaml
// expect: correctness_mismatch
// bug: the two depth halves of B change places
// @launch matmul_bf16_mma<<<dim3(ceil_div(N, 8), ceil_div(M, 16)), 32>>>(A, B, C, M, N, K)
#include <cuda_bf16.h>

__device__ unsigned pack(const __nv_bfloat16* source, int row, int rows, int col, int cols, int stride, int step) {
  unsigned low = 0, high = 0;
  if (row < rows && col < cols) low = __bfloat16_as_ushort(source[row * stride + col * step]);
  if (row < rows && col + 1 < cols) high = __bfloat16_as_ushort(source[row * stride + (col + 1) * step]);
  return low | high << 16;
}

extern "C" __global__ void matmul_bf16_mma(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M,
                                           int N, int K) {
  const int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2;
  const int row = blockIdx.y * 16 + group, col = blockIdx.x * 8;
  float c[4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    unsigned a[4], b[2];
    for (int i = 0; i < 4; i++) a[i] = pack(A, row + i % 2 * 8, M, k0 + pair + i / 2 * 8, K, K, 1);
    for (int i = 0; i < 2; i++) b[i] = pack(B, col + group, N, k0 + pair + 8 - i * 8, K, 1, N);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  for (int i = 0; i < 4; i++) {
    const int r = row + i / 2 * 8, n = col + pair + i % 2;
    if (r < M && n < N) C[r * N + n] = __float2bfloat16(c[i]);
  }
}
