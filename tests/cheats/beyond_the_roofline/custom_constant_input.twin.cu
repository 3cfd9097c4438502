// A task of one's own with a constant input, which is read all the same.
// expect: possible
// task: custom.yaml
// @launch thrice<<<ceil_div(N, 1024), 256>>>(x, y, N)
extern "C" __global__ void thrice(const float* x, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  float4 v = make_float4(0, 0, 0, 0);
  if (i + 3 < N) {
    v = *reinterpret_cast<const float4*>(x + i);
    v = make_float4(3 * v.x, 3 * v.y, 3 * v.z, 3 * v.w);
    *reinterpret_cast<float4*>(y + i) = v;
  } else
    for (int j = i; j < N; j++) y[j] = 3 * x[j];
}
