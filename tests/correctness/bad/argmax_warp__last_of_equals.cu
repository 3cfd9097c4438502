// task: ../tasks/argmax_f32.yaml
// expect: correctness_mismatch
// bug: ties go to the larger index
// @launch argmax<<<OUTER * INNER, 32>>>(x, y, R, INNER)
extern "C" __global__ void argmax(const float* x, int* y, int R, int INNER) {
  const float* row = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  float best = -INFINITY;
  int where = R;
  for (int i = threadIdx.x; i < R; i += 32) {
    const float v = row[static_cast<size_t>(i) * INNER];
    if (v > best || where == R) {
      best = v;
      where = i;
    }
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, best, offset);
    const int index = __shfl_xor_sync(0xffffffffu, where, offset);
    if (other > best || (other == best && index > where)) {
      best = other;
      where = index;
    }
  }
  if (threadIdx.x == 0) y[blockIdx.x] = where;
}
