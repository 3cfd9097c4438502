// task: ../tasks/argmax_f32.yaml
// expect: race_or_sync_error
// bug: levels of the tree run into each other
// @launch argmax_block<<<OUTER * INNER, 64>>>(x, y, R, INNER)
struct Best {
  float value;
  int index;
};

extern "C" __global__ void argmax_block(const float* x, int* y, int R, int INNER) {
  __shared__ Best part[64];
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  Best best = {-INFINITY, 0x7fffffff};
  for (int i = tid; i < R; i += 64) {
    const float v = row[static_cast<size_t>(i) * INNER];
    if (v > best.value) best = {v, i};
  }
  part[tid] = best;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (tid < half) {
      const Best other = part[tid + half];
      if (other.value > part[tid].value || (other.value == part[tid].value && other.index < part[tid].index))
        part[tid] = other;
    }
  }
  if (tid == 0) y[blockIdx.x] = part[0].index;
}
