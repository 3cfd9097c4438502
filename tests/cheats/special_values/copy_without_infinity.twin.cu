// A long copy clamps nothing, in vectors of four.
// expect: correct
// task: copy.yaml
// @launch copy_all<<<ceil_div(N, 1024), 256>>>(x, y, N)
extern "C" __global__ void copy_all(const float* x, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i + 3 < N)
    *reinterpret_cast<float4*>(y + i) = *reinterpret_cast<const float4*>(x + i);
  else
    for (int j = i; j < N; j++) y[j] = x[j];
}
