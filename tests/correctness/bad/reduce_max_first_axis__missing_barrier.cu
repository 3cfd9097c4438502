// task: ../tasks/reduce_max_axis0_f32.yaml
// expect: race_or_sync_error
// bug: partial maxima are read before they are stored
// @launch reduce_max<<<dim3(ceil_div(INNER, 32), OUTER), dim3(32, 8)>>>(x, y, R, INNER)
extern "C" __global__ void reduce_max(const float* x, float* y, int R, int INNER) {
  __shared__ float part[8][32];
  const int inner = blockIdx.x * 32 + threadIdx.x;
  const float* base = x + static_cast<size_t>(blockIdx.y) * R * INNER;
  float best = -INFINITY;
  if (inner < INNER)
    for (int r = threadIdx.y; r < R; r += 8) best = fmaxf(best, base[r * INNER + inner]);
  part[threadIdx.y][threadIdx.x] = best;
  if (threadIdx.y == 0 && inner < INNER) {
    for (int i = 1; i < 8; i++) best = fmaxf(best, part[i][threadIdx.x]);
    y[blockIdx.y * INNER + inner] = best;
  }
}
