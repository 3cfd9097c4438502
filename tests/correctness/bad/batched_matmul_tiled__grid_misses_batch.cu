// task: ../tasks/batched_matmul_f32.yaml
// expect: uninitialized_memory_error
// bug: only the first batch is launched
// @launch batched<<<dim3(ceil_div(N, 16), ceil_div(M, 16), 1), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void batched(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a_tile[16][16];
  __shared__ float b_tile[16][16];
  A += static_cast<size_t>(blockIdx.z) * M * K;
  B += static_cast<size_t>(blockIdx.z) * K * N;
  C += static_cast<size_t>(blockIdx.z) * M * N;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a_tile[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    b_tile[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
