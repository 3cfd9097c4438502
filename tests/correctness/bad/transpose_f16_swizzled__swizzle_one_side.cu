// task: ../tasks/transpose_f16.yaml
// expect: correctness_mismatch
// bug: only the store is swizzled
// @launch transpose_swizzled<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(x, y, M, N)
#include <cuda_fp16.h>

extern "C" __global__ void transpose_swizzled(const half* x, half* y, int M, int N) {
  __shared__ half tile[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  if (row < M && col < N) tile[ty][tx ^ ty] = x[row * N + col];
  __syncthreads();
  const int out_row = blockIdx.x * 16 + ty, out_col = blockIdx.y * 16 + tx;
  if (out_row < N && out_col < M) y[out_row * M + out_col] = tile[tx][ty];
}
