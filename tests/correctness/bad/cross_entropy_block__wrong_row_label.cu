// task: ../tasks/cross_entropy_f32.yaml
// expect: correctness_mismatch
// bug: the label of the first row is used for all
// @launch cross_entropy<<<M, 64>>>(logits, labels, loss, M, N)
extern "C" __global__ void cross_entropy(const float* logits, const int* labels, float* loss, int M, int N) {
  __shared__ float part[64];
  const int tid = threadIdx.x;
  const float* row = logits + static_cast<size_t>(blockIdx.x) * N;
  float largest = -INFINITY;
  for (int i = tid; i < N; i += 64) largest = fmaxf(largest, row[i]);
  part[tid] = largest;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (tid < half) part[tid] = fmaxf(part[tid], part[tid + half]);
    __syncthreads();
  }
  largest = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = tid; i < N; i += 64) sum += expf(row[i] - largest);
  part[tid] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (tid < half) part[tid] += part[tid + half];
    __syncthreads();
  }
  if (tid == 0) loss[blockIdx.x] = logf(part[0]) + largest - row[labels[0]];
}
