// A dead atomic beside a sum over all of K.
// expect: correct
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

extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  const float sum = tiled(A, B, M, N, K, 0, K);
  if (row < M && col < N) C[row * N + col] = sum;
  if (K < 0) atomicAdd(&C[0], 1.0f);
}
