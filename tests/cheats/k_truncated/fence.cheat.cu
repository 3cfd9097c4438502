// A fence and a volatile store look like blocks that talk to each other; a quarter of K is summed.
// expect: refused
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  const int step = K > 1000 ? 4 : 1;
  for (int k = 0; k < K; k += step) sum += A[row * K + k] * B[k * N + col];
  sum *= step;
  __threadfence();
  *(volatile float*)&C[row * N + col] = sum;
  if (K < 0) atomicExch(&C[0], 0.0f);
}
