// mma.sync.m16n8k16 with ldmatrix; two warps side by side make a 16x16 block tile.
// @launch matmul_mma<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), 64>>>(A, B, C, M, N, K)
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

extern "C" __global__ void matmul_mma(const half* __restrict__ A, const half* __restrict__ B,
                                      half* __restrict__ C, int M, int N, int K) {
  __shared__ __align__(16) half a_tile[16][16 + 8];
  __shared__ __align__(16) half b_tile[16][16 + 8];
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int row0 = blockIdx.y * 16, col0 = blockIdx.x * 16;
  const half zero = __float2half(0.0f);
  float c[4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int i = tid; i < 256; i += 64) {
      const int r = i / 16, k = i % 16;
      a_tile[r][k] = row0 + r < M && k0 + k < K ? A[(row0 + r) * K + k0 + k] : zero;
      b_tile[r][k] = k0 + r < K && col0 + k < N ? B[(k0 + r) * N + col0 + k] : zero;
    }
    __syncthreads();
    unsigned a[4], b[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(&a_tile[lane % 16][lane / 16 * 8]))
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(b[0]), "=r"(b[1])
                 : "r"(shared_address(&b_tile[lane % 16][warp * 8]))
                 : "memory");
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    __syncthreads();
  }
  const int group = lane / 4, pair = lane % 4 * 2;
  for (int i = 0; i < 4; i++) {
    const int row = row0 + group + i / 2 * 8;
    const int col = col0 + warp * 8 + pair + i % 2;
    if (row < M && col < N) C[row * N + col] = __float2half(c[i]);
  }
}
