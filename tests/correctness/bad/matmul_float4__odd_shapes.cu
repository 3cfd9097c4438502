// task: ../tasks/matmul_f32.yaml
// expect: memory_safety_error
// bug: vector accesses on shapes that are not multiples of 4
// @launch matmul_float4<<<dim3(ceil_div(N, 64), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul_float4(const float* __restrict__ A, const float* __restrict__ B,
                                         float* __restrict__ C, int M, int N, int K) {
  __shared__ float a_tile[16][16 + 4];
  __shared__ float4 b_tile[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty;
  const int col = blockIdx.x * 64 + tx * 4;
  float4 acc = make_float4(0, 0, 0, 0);
  for (int k0 = 0; k0 < K; k0 += 16) {
    if (tx < 4) {
      float4 a = make_float4(0, 0, 0, 0);
      if (row < M && k0 + tx * 4 < K) a = *reinterpret_cast<const float4*>(A + row * K + k0 + tx * 4);
      *reinterpret_cast<float4*>(&a_tile[ty][tx * 4]) = a;
    }
    float4 b = make_float4(0, 0, 0, 0);
    if (k0 + ty < K && col < N) b = *reinterpret_cast<const float4*>(B + (k0 + ty) * N + col);
    b_tile[ty][tx] = b;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const float a = a_tile[ty][k];
      const float4 v = b_tile[k][tx];
      acc.x += a * v.x;
      acc.y += a * v.y;
      acc.z += a * v.z;
      acc.w += a * v.w;
    }
    __syncthreads();
  }
  if (row < M && col < N) *reinterpret_cast<float4*>(C + row * N + col) = acc;
}
