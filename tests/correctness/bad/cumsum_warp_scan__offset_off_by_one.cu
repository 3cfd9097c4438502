// task: ../tasks/cumsum_f32.yaml
// expect: correctness_mismatch
// bug: the lane equal to the offset adds nothing
// @launch cumsum_warp<<<ceil_div(M, 2), dim3(32, 2)>>>(x, y, M, N)
extern "C" __global__ void cumsum_warp(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 2 + threadIdx.y, lane = threadIdx.x;
  if (row >= M) return;
  const size_t base = static_cast<size_t>(row) * N;
  float carry = 0.0f;
  for (int start = 0; start < N; start += 32) {
    float v = start + lane < N ? x[base + start + lane] : 0.0f;
    for (int offset = 1; offset < 32; offset *= 2) {
      const float below = __shfl_up_sync(0xffffffffu, v, offset);
      if (lane > offset) v += below;
    }
    if (start + lane < N) y[base + start + lane] = carry + v;
    carry += __shfl_sync(0xffffffffu, v, 31);
  }
}
