// task: ../tasks/log_softmax_f32.yaml
// expect: correctness_mismatch
// bug: the maximum is not subtracted again
// @launch log_softmax<<<ceil_div(M, 4), dim3(32, 4)>>>(x, y, M, N)
extern "C" __global__ void log_softmax(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
  if (row >= M) return;
  const float* in = x + static_cast<size_t>(row) * N;
  float largest = -INFINITY;
  for (int i = lane; i < N; i += 32) largest = fmaxf(largest, in[i]);
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int i = lane; i < N; i += 32) sum += expf(in[i] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  const float log_sum = logf(sum);
  for (int i = lane; i < N; i += 32) y[static_cast<size_t>(row) * N + i] = in[i] - log_sum;
}
