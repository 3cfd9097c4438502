// task: ../tasks/reduce_mean_axis1_f32.yaml
// expect: correctness_mismatch
// bug: the axis is walked with stride 1
// @launch reduce_mean<<<ceil_div(OUTER * INNER, 128), 128>>>(x, y, OUTER, R, INNER)
extern "C" __global__ void reduce_mean(const float* x, float* y, int OUTER, int R, int INNER) {
  const int out = blockIdx.x * blockDim.x + threadIdx.x;
  if (out >= OUTER * INNER) return;
  const float* p = x + (out / INNER) * R * INNER + out % INNER;
  float sum = 0.0f;
  for (int r = 0; r < R; r++) sum += p[r];
  y[out] = sum / R;
}
