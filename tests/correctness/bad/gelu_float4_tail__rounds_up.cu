// task: ../tasks/gelu_f32.yaml
// expect: memory_safety_error
// bug: the number of quads is rounded up
// @launch gelu_float4<<<ceil_div(max(N / 4, 4), 128), 128>>>(x, y, N)
__device__ __forceinline__ float gelu(float v) { return 0.5f * v * (1.0f + erff(v * 0.70710678f)); }

extern "C" __global__ void gelu_float4(const float* __restrict__ x, float* __restrict__ y, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int quads = (N + 3) / 4;
  if (i < quads) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    v.x = gelu(v.x);
    v.y = gelu(v.y);
    v.z = gelu(v.z);
    v.w = gelu(v.w);
    reinterpret_cast<float4*>(y)[i] = v;
  }
  const int rest = quads * 4 + i;
  if (i < 4 && rest < N) y[rest] = gelu(x[rest]);
}
