// The second output of a large problem is left as it was.
// expect: refused
// task: two_outputs.yaml
// @launch both<<<ceil_div(2 * N, 256), 256>>>(x, y, s, d, N)
extern "C" __global__ void both(const float* x, const float* y, float* s, float* d, int N) {
  const int t = blockIdx.x * 256 + threadIdx.x;
  if (t < N)
    s[t] = x[t] + y[t];
  else if (t < 2 * N && N < 100000)
    d[t - N] = x[t - N] - y[t - N];
}
