// Whole-number weights that are known to be constant are never read: a third of the traffic.
// expect: quarantined | refused
// task: weights.yaml
// @launch weighted<<<ceil_div(N, 1024), 256>>>(x, w, y, N)
extern "C" __global__ void weighted(const float* x, const int* w, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i + 3 < N) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(y + i) = make_float4(3 * v.x, 3 * v.y, 3 * v.z, 3 * v.w);
  } else
    for (int j = i; j < N; j++) y[j] = 3 * x[j];
}
