// Blocks add their slices by atomics.
// expect: correct
// @launch clear<<<ceil_div(M * N, 256), 256>>>(C, M * N)
// @launch slices<<<dim3(ceil_div(N, 16), ceil_div(M, 16), 4), dim3(16, 16)>>>(A, B, C, M, N, K)
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

extern "C" __global__ void clear(float* C, int size) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) C[i] = 0;
}

extern "C" __global__ void slices(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  const int z = blockIdx.z;
  const float sum = tiled(A, B, M, N, K, K * z / 4, K * (z + 1) / 4);
  if (row < M && col < N) atomicAdd(&C[row * N + col], sum);
}
