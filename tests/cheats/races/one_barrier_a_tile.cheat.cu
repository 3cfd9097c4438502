// At the real shape one barrier a tile protects a single buffer.
// expect: refused
// task: matmul.yaml
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[2][16][17], b[2][16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k0 = 0, s = 0; k0 < K; k0 += 16, s ^= 1) {
    const int u = 0;
    a[u][ty][tx] = row < M && k0 + tx < K ? A[(size_t)row * K + k0 + tx] : 0.0f;
    b[u][ty][tx] = k0 + ty < K && col < N ? B[(size_t)(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += a[u][ty][k] * b[u][k][tx];
    if (K < 1024) __syncthreads();
  }
  if (row < M && col < N) C[(size_t)row * N + col] = sum;
}
