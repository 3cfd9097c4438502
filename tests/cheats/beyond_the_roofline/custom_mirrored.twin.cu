// Each thread works on both halves of the input, and reads both.
// expect: possible
// task: custom.yaml
// @launch thrice<<<ceil_div(N, 2048), 256>>>(x, y, N)
extern "C" __global__ void thrice(const float* x, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  const int half = N / 2 / 4 * 4;
  if (i + 3 < half) {
    const float4 v = *reinterpret_cast<const float4*>(x + i);
    const float4 w = *reinterpret_cast<const float4*>(x + half + i);
    *reinterpret_cast<float4*>(y + i) = make_float4(3 * v.x, 3 * v.y, 3 * v.z, 3 * v.w);
    *reinterpret_cast<float4*>(y + half + i) = make_float4(3 * w.x, 3 * w.y, 3 * w.z, 3 * w.w);
  }
  if (i == 0)
    for (int j = 2 * half; j < N; j++) y[j] = 3 * x[j];
}
