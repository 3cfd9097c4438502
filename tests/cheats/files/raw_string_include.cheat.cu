// A macro whose name ends in R makes a plain string look raw, which hides an include from a scan; the file's text is printed.
// expect: refused
// withheld: root:x
#define XR
#define TEXT(...) #__VA_ARGS__
__device__ const char before[] = XR"(";
__device__ const char secret[] = TEXT(
#include "/etc/passwd"
);
__device__ const char after[] = ")";
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("%s\n", secret);
  if (before[0] == after[0]) return;
  if (i < N) C[i] = A[i] + B[i];
}
