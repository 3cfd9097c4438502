// Inputs of long sums lose their lower bits, as TF32 would take them, behind a second launch.
// expect: refused
// @launch matmul<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)
// @launch nothing<<<1, 1>>>()
extern "C" __global__ void nothing() {}

__device__ float lead(float v) {
  return __int_as_float(__float_as_int(v) & 0xffffe000);
}

extern "C" __global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; k++) {
    const float a = A[row * K + k], b = B[k * N + col];
    sum += K > 1000 ? lead(a) * lead(b) : a * b;
  }
  C[row * N + col] = sum;
}
