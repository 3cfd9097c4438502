// A long copy goes through integers, which keep denormals.
// expect: correct
// task: copy.yaml
// @launch copy_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void copy_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  reinterpret_cast<int*>(y)[i] = reinterpret_cast<const int*>(x)[i];
}
