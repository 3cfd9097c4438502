// task: ../tasks/softmax_f32.yaml
// expect: correctness_mismatch
// bug: the maximum starts at 300, so that ordinary rows underflow to zero by zero
// @launch softmax_block<<<M, 128>>>(x, y, M, N)
extern "C" __global__ void softmax_block(const float* x, float* y, int M, int N) {
  __shared__ float part[128];
  const int tid = threadIdx.x;
  const float* in = x + static_cast<size_t>(blockIdx.x) * N;
  float* out = y + static_cast<size_t>(blockIdx.x) * N;
  float largest = 300.0f;
  for (int i = tid; i < N; i += 128) largest = fmaxf(largest, in[i]);
  part[tid] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (tid < half) part[tid] = fmaxf(part[tid], part[tid + half]);
    __syncthreads();
  }
  largest = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = tid; i < N; i += 128) sum += expf(in[i] - largest);
  part[tid] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (tid < half) part[tid] += part[tid + half];
    __syncthreads();
  }
  sum = part[0];
  for (int i = tid; i < N; i += 128) out[i] = expf(in[i] - largest) / sum;
}
