// A fence and a volatile store publish the result; all of K is summed.
// expect: correct
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  const int step = 1;
  for (int k = 0; k < K; k += step) sum += A[row * K + k] * B[k * N + col];
  __threadfence();
  *(volatile float*)&C[row * N + col] = sum;
  if (K < 0) atomicExch(&C[0], 0.0f);
}
