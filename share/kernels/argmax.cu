// One thread per element of y.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(OUTER) * INNER)
    return;
  const Element* line = x + i / INNER * R * INNER + i % INNER;
  int best = 0;
  Acc largest = static_cast<Acc>(line[0]);
  for (int r = 1; r < R; ++r) {
    Acc value = static_cast<Acc>(line[static_cast<long long>(r) * INNER]);
    if (value > largest) {
      largest = value;
      best = r;
    }
  }
  y[i] = best;
}
