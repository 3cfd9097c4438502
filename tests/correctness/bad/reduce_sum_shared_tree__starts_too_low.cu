// task: ../tasks/reduce_sum_f32.yaml
// expect: correctness_mismatch
// bug: the upper half of the tree is never added
// @launch reduce_tree<<<OUTER * INNER, 128>>>(x, y, R, INNER)
extern "C" __global__ void reduce_tree(const float* x, float* y, int R, int INNER) {
  __shared__ float part[128];
  const int tid = threadIdx.x;
  const float* row = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  float sum = 0.0f;
  for (int i = tid; i < R; i += 128) sum += row[static_cast<size_t>(i) * INNER];
  part[tid] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (tid < half) part[tid] += part[tid + half];
    __syncthreads();
  }
  if (tid == 0) y[blockIdx.x] = part[0];
}
