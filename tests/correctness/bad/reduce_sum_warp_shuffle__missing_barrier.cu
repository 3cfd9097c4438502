// task: ../tasks/reduce_sum_f32.yaml
// expect: race_or_sync_error
// bug: the first warp reads sums of warps that may not have stored them
// @launch reduce_shuffle<<<OUTER * INNER, 256>>>(x, y, R, INNER)
__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

extern "C" __global__ void reduce_shuffle(const float* x, float* y, int R, int INNER) {
  __shared__ float part[8];
  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
  const float* row = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  float sum = 0.0f;
  for (int i = tid; i < R; i += 256) sum += row[static_cast<size_t>(i) * INNER];
  sum = warp_sum(sum);
  if (lane == 0) part[warp] = sum;
  if (warp == 0) {
    sum = warp_sum(lane < 8 ? part[lane] : 0.0f);
    if (lane == 0) y[blockIdx.x] = sum;
  }
}
