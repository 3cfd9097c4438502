// task: ../tasks/softmax_f32.yaml
// expect: memory_safety_error
// bug: the last block handles rows that do not exist
// @launch softmax_warp<<<ceil_div(M, 4), dim3(32, 4)>>>(x, y, M, N)
extern "C" __global__ void softmax_warp(const float* x, float* y, int M, int N) {
  const int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
  const float* in = x + static_cast<size_t>(row) * N;
  float largest = -INFINITY;
  for (int i = lane; i < N; i += 32) largest = fmaxf(largest, in[i]);
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  float sum = 0.0f;
  for (int i = lane; i < N; i += 32) sum += expf(in[i] - largest);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int i = lane; i < N; i += 32) y[static_cast<size_t>(row) * N + i] = expf(in[i] - largest) / sum;
}
