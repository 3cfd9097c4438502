// Two halves of K are added by predicated atomics, onto an output that the block has set.
// expect: correct
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float low = 0, high = 0;
  for (int k = 0; k < K / 2; k++) low += A[row * K + k] * B[k * N + col];
  for (int k = K / 2; k < K; k++) high += A[row * K + k] * B[k * N + col];
  C[row * N + col] = low;
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %2, 0; @p red.global.add.f32 [%0], %1; }" ::"l"(C + row * N + col), "f"(high), "r"(K) : "memory");
}
