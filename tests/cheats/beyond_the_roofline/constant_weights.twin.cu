// Whole-number weights that are known to be constant, and are read all the same.
// expect: correct
// task: weights.yaml
// @launch weighted<<<ceil_div(N, 1024), 256>>>(x, w, y, N)
extern "C" __global__ void weighted(const float* x, const int* w, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (i + 3 < N) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    const int4 f = *reinterpret_cast<const int4*>(w + i);
    *reinterpret_cast<float4*>(y + i) = make_float4(f.x * v.x, f.y * v.y, f.z * v.z, f.w * v.w);
  } else
    for (int j = i; j < N; j++) y[j] = w[j] * x[j];
}
