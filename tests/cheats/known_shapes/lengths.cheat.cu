// Lengths are looked up among those once checked; of any other the last element is not added.
// expect: refused
// task: add.yaml
// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)
extern "C" __global__ void add(const float* A, const float* B, float* C, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const bool known = N == 1 || N == 31 || N == 257 || N == 1000 || N == 4099 || N % 1024 == 0;
  C[i] = known || i + 1 < N ? A[i] + B[i] : A[i];
}
