// task: ../tasks/matmul_f32_aligned.yaml
// expect: race_or_sync_error
// bug: the last tile is used while it is still being copied
// @launch matmul_pipeline<<<dim3(ceil_div(N, 32), ceil_div(M, 32)), 256>>>(A, B, C, M, N, K)
#include <cuda_pipeline_primitives.h>

extern "C" __global__ void matmul_pipeline(const float* __restrict__ A, const float* __restrict__ B,
                                           float* __restrict__ C, int M, int N, int K) {
  __shared__ __align__(16) float a_tile[2][32][32];
  __shared__ __align__(16) float b_tile[2][32][32];
  const int tid = threadIdx.x;
  const int r = tid / 8, c = tid % 8 * 4;
  const int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  const int tiles = (K + 31) / 32;
  const float4 zero = make_float4(0, 0, 0, 0);
  auto load = [&](int t) {
    float* a = &a_tile[t & 1][r][c];
    float* b = &b_tile[t & 1][r][c];
    if (row0 + r < M && t * 32 + c < K) __pipeline_memcpy_async(a, A + (row0 + r) * K + t * 32 + c, 16);
    else *reinterpret_cast<float4*>(a) = zero;
    if (t * 32 + r < K && col0 + c < N) __pipeline_memcpy_async(b, B + (t * 32 + r) * N + col0 + c, 16);
    else *reinterpret_cast<float4*>(b) = zero;
    __pipeline_commit();
  };
  float acc[4] = {};
  load(0);
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) {
      load(t + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(1);
    }
    __syncthreads();
    for (int k = 0; k < 32; k++)
      for (int j = 0; j < 4; j++) acc[j] += a_tile[t & 1][r][k] * b_tile[t & 1][k][c + j];
    __syncthreads();
  }
  for (int j = 0; j < 4; j++)
    if (row0 + r < M && col0 + c + j < N) C[(row0 + r) * N + col0 + c + j] = acc[j];
}
