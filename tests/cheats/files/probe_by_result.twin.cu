// Whether a feature of the compiler exists decides how the kernel adds.
// expect: correct
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 800
  if (i < N) C[i] = __fadd_rn(A[i], B[i]);
#else
  if (i < N) C[i] = A[i] + B[i];
#endif
}
