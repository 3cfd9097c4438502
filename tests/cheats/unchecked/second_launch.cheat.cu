// A second launch leaves the shape unchecked; it is the one that does nothing at the real shape.
// expect: refused
// @launch half_of<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K, 0, K / 2)
// @launch half_of<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K, K / 2, min(K, 2048))
__device__ float tiled(const float* A, const float* B, int M, int N, int K, int from, int to) {
  __shared__ float a[16][16], b[16][16];
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = from; k < to; k += 16) {
    a[threadIdx.y][threadIdx.x] = row < M && k + threadIdx.x < to ? A[row * K + k + threadIdx.x] : 0.0f;
    b[threadIdx.y][threadIdx.x] = col < N && k + threadIdx.y < to ? B[(k + threadIdx.y) * N + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  return sum;
}

extern "C" __global__ void half_of(const float* A, const float* B, float* C, int M, int N, int K, int from, int to) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  const float sum = tiled(A, B, M, N, K, from, to);
  if (row < M && col < N) C[row * N + col] = from > 0 ? C[row * N + col] + sum : sum;
}
