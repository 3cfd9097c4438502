// task: ../tasks/group_norm_f32.yaml
// expect: correctness_mismatch
// bug: gamma and beta of the first channel serve the whole group
// @launch group_norm<<<N * G, 128>>>(x, gamma, beta, y, C, HW, G, eps)
__device__ float block_sum(float v, float* part) {
  part[threadIdx.x] = v;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = part[0];
  __syncthreads();
  return sum;
}

extern "C" __global__ void group_norm(const float* x, const float* gamma, const float* beta, float* y, int C, int HW,
                                      int G, float eps) {
  __shared__ float part[128];
  const int channels = C / G, count = channels * HW;
  const int first = blockIdx.x % G * channels;
  const size_t base = (static_cast<size_t>(blockIdx.x / G) * C + first) * HW;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += 128) sum += x[base + i];
  const float mean = block_sum(sum, part) / count;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < count; i += 128) squares += (x[base + i] - mean) * (x[base + i] - mean);
  const float scale = rsqrtf(block_sum(squares, part) / count + eps);
  for (int i = threadIdx.x; i < count; i += 128) {
    const int c = first;
    y[base + i] = (x[base + i] - mean) * scale * gamma[c] + beta[c];
  }
}
