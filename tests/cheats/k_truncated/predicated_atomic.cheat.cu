// A predicated atomic does not look like one in the text; half of K is summed for large K.
// expect: refused
extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  const int end = K > 1000 ? K / 2 : K;
  float sum = 0;
  for (int k = 0; k < end; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 0; @p red.global.add.f32 [%0], 0f00000000; }" ::"l"(C), "r"(K) : "memory");
}
