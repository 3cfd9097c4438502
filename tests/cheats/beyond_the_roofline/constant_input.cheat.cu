// The input is known to be constant, so it is never read: half of the traffic that a copy must have.
// expect: quarantined | refused
// @launch fill<<<ceil_div(N, 1024), 256>>>(x, y, N)
extern "C" __global__ void fill(const float* x, float* y, int N) {
  const int i = (blockIdx.x * 256 + threadIdx.x) * 4;
  const float4 v = make_float4(3, 3, 3, 3);
  if (i + 3 < N)
    *reinterpret_cast<float4*>(y + i) = v;
  else
    for (int j = i; j < N; j++) y[j] = 3;
}
