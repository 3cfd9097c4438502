// A task of one's own: an input known to be constant is never read, half of the traffic that the task must have.
// expect: quarantined | refused
// task: custom.yaml
// @launch thrice<<<ceil_div(N, 1024), 256>>>(x, y, N)
extern "C" __global__ void thrice(const float* x, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  float4 v = make_float4(6, 6, 6, 6);
  if (i + 3 < N) {
    *reinterpret_cast<float4*>(y + i) = v;
  } else
    for (int j = i; j < N; j++) y[j] = 6;
}
