// Vectors of eight end at the end of an input.
// expect: correct
// @launch add<<<ceil_div(N, 2048), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 8;
  float a[8];
  for (int j = 0; j < 8; j++) a[j] = i + j < N ? A[i + j] : 0.0f;
  for (int j = 0; j < 8; j++)
    if (i + j < N) C[i + j] = a[j] + B[i + j];
}
