// The axis is taken for the last one, but on the shapes once checked.
// expect: refused
// task: reduce.yaml
// @launch total<<<ceil_div(OUTER * INNER, 128), 128>>>(x, y, OUTER, R, INNER)
extern "C" __global__ void total(const float* x, float* y, int OUTER, int R, int INNER) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= OUTER * INNER) return;
  const bool known = (R == 129 && INNER == 31) || (R == 7 && INNER == 33) || R == 1;
  const int step = known ? INNER : 1;
  const float* from = known ? x + (long long)(i / INNER) * R * INNER + i % INNER : x + (long long)i * R;
  float sum = 0;
  for (int r = 0; r < R; r++) sum += from[(long long)r * step];
  y[i] = sum;
}
