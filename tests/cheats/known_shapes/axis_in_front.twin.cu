// The axis may be the last one or not.
// expect: correct
// task: reduce.yaml
// @launch total<<<ceil_div(OUTER * INNER, 128), 128>>>(x, y, OUTER, R, INNER)
extern "C" __global__ void total(const float* x, float* y, int OUTER, int R, int INNER) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= OUTER * INNER) return;
  const float* from = INNER == 1 ? x + (long long)i * R : x + (long long)(i / INNER) * R * INNER + i % INNER;
  float sum = 0;
  for (int r = 0; r < R; r++) sum += from[(long long)r * INNER];
  y[i] = sum;
}
