// A task of one's own that lists multiples of 16: a kernel may rely on that.
// expect: correct
// task: own.yaml
// @launch ramp<<<ceil_div(N, 1024), 64>>>(x, y, N)
extern "C" __global__ void ramp(const float* x, float* y, int N) {
  const int from = (blockIdx.x * 64 + threadIdx.x) * 16;
  if (from >= N) return;
  for (int i = from; i < from + 16; i += 4) {
    float4 v = *reinterpret_cast<const float4*>(x + i);
    v.x += (float)i / N, v.y += (float)(i + 1) / N, v.z += (float)(i + 2) / N, v.w += (float)(i + 3) / N;
    *reinterpret_cast<float4*>(y + i) = v;
  }
}
