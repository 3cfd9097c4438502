// task: ../tasks/matmul_f32.yaml
// expect: uninitialized_memory_error
// bug: C is added to without being cleared first
// @launch splitk_atomic<<<dim3(ceil_div(N, 16), ceil_div(M, 16), 4), dim3(16, 16)>>>(A, B, C, M, N, K)
extern "C" __global__ void zero(float* C, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) C[i] = 0.0f;
}

extern "C" __global__ void splitk_atomic(const float* __restrict__ A, const float* __restrict__ B, float* C,
                                         int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = blockIdx.z; k < K; k += gridDim.z) sum += A[row * K + k] * B[k * N + col];
  atomicAdd(&C[row * N + col], sum);
}
