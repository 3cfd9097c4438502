// Of equal maxima in a long row the first wins.
// expect: correct
// task: argmax.yaml
// @launch argmax<<<OUTER, 32>>>(x, y, OUTER, R)
extern "C" __global__ void argmax(const float* x, int* y, int OUTER, int R) {
  const float* in = x + (size_t)blockIdx.x * R;
  float best = -INFINITY;
  int at = R;
  for (int i = threadIdx.x; i < R; i += 32)
    if (in[i] > best || at == R) best = in[i], at = i;
  for (int o = 16; o > 0; o /= 2) {
    const float other = __shfl_xor_sync(~0u, best, o);
    const int where = __shfl_xor_sync(~0u, at, o);
    if (where >= R) continue;
    const bool take = at >= R || other > best || (other == best && where < at);
    if (take) best = other, at = where;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = at;
}
