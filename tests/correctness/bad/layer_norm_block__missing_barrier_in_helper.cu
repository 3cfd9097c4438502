// task: ../tasks/layer_norm_f32.yaml
// expect: race_or_sync_error
// bug: sums are read before all warps stored them
// @launch layer_norm_block<<<M, 128>>>(x, gamma, beta, y, M, N, eps)
__device__ float block_sum(float v, float* part) {
  const int tid = threadIdx.x;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  __syncthreads();
  if (tid % 32 == 0) part[tid / 32] = v;
  return part[0] + part[1] + part[2] + part[3];
}

extern "C" __global__ void layer_norm_block(const float* x, const float* gamma, const float* beta, float* y, int M,
                                            int N, float eps) {
  __shared__ float part[4];
  const float* in = x + static_cast<size_t>(blockIdx.x) * N;
  float* out = y + static_cast<size_t>(blockIdx.x) * N;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < N; i += 128) sum += in[i];
  const float mean = block_sum(sum, part) / N;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < N; i += 128) squares += (in[i] - mean) * (in[i] - mean);
  const float scale = rsqrtf(block_sum(squares, part) / N + eps);
  for (int i = threadIdx.x; i < N; i += 128) out[i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
