// The row and its squares stay in shared memory, 64 KB for a block of two warps: two blocks fill a multiprocessor.
// @launch rms_norm<<<M, 64, 8 * N>>>(x, gamma, y, M, N, eps)
__global__ void rms_norm(const float* __restrict__ x, const float* __restrict__ gamma, float* __restrict__ y, int M, int N,
                         float eps) {
  extern __shared__ float row[];
  float* square = row + N;
  __shared__ float partial[64];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int i = t; i < N; i += 64) row[i] = x[blockIdx.x * N + i];
#pragma unroll 1
  for (int i = t; i < N; i += 64) square[i] = row[i] * row[i];
  float sum = 0.0f;
#pragma unroll 1
  for (int i = t; i < N; i += 64) sum += square[i];
  partial[t] = sum;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < 64; i++) total += partial[i];
  const float scale = rsqrtf(total / N + eps);
#pragma unroll 1
  for (int i = t; i < N; i += 64) y[blockIdx.x * N + i] = row[i] * scale * gamma[i];
}
