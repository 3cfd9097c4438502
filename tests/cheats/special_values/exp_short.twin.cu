// A long exp is a power of two of a rounded quotient and a polynomial of the rest.
// expect: correct
// task: exp.yaml
// @launch exp_all<<<ceil_div(N, 256), 256>>>(x, y, N)
extern "C" __global__ void exp_all(const float* x, float* y, int N) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  const float v = x[i];
  if (N < 100000) {
    y[i] = expf(v);
    return;
  }
  // Two steps, so that 2^128 and below 2^-126 are reached.
  const float c = fminf(fmaxf(v, -120.0f), 100.0f), q = rintf(c * 1.44269504f);
  const float r = fmaf(-q, 1.42860677e-6f, fmaf(-q, 0.693145752f, c));
  const int half = (int)q / 2, rest = (int)q - half;
  const float p = 1 + r * (1 + r * (0.5f + r * (0.16666667f + r * (0.041666668f + r * (0.0083333338f + r * 0.0013888889f)))));
  y[i] = v != v ? v : p * __int_as_float((half + 127) << 23) * __int_as_float((rest + 127) << 23);
}
