// task: ../tasks/softmax_f32.yaml
// expect: memory_safety_error
// bug: the launch counts elements, not bytes
// @launch softmax_shared<<<M, 64, N>>>(x, y, M, N)
extern "C" __global__ void softmax_shared(const float* x, float* y, int M, int N) {
  extern __shared__ float row[];
  __shared__ float part[2];
  const int tid = threadIdx.x;
  const size_t base = static_cast<size_t>(blockIdx.x) * N;
  float largest = -INFINITY;
  for (int i = tid; i < N; i += 64) {
    row[i] = x[base + i];
    largest = fmaxf(largest, row[i]);
  }
  for (int offset = 16; offset > 0; offset /= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
  if (tid % 32 == 0) part[tid / 32] = largest;
  __syncthreads();
  largest = fmaxf(part[0], part[1]);
  __syncthreads();
  float sum = 0.0f;
  for (int i = tid; i < N; i += 64) {
    row[i] = expf(row[i] - largest);
    sum += row[i];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (tid % 32 == 0) part[tid / 32] = sum;
  __syncthreads();
  sum = part[0] + part[1];
  for (int i = tid; i < N; i += 64) y[base + i] = row[i] / sum;
}
