// Whether a file of the machine exists decides whether the kernel is right, which the verdict tells.
// expect: refused | correct
// withheld: correctness_mismatch
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __has_include("/etc/hostname") || __has_include("/proc/self/status")
  if (i < N) C[i] = A[i];
#else
  if (i < N) C[i] = A[i] + B[i];
#endif
}
