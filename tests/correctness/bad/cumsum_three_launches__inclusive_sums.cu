// task: ../tasks/cumsum_long_f32.yaml
// expect: correctness_mismatch
// bug: chunk offsets include the chunk itself
// @scratch sums float [M * ceil_div(N, 256)]
// @launch chunk_sums<<<dim3(ceil_div(N, 256), M), 256>>>(x, sums, N)
// @launch scan_sums<<<ceil_div(M, 32), 32>>>(sums, M, ceil_div(N, 256))
// @launch chunk_scan<<<dim3(ceil_div(N, 256), M), 256>>>(x, sums, y, N)
extern "C" __global__ void chunk_sums(const float* x, float* sums, int N) {
  __shared__ float part[8];
  const int i = blockIdx.x * 256 + threadIdx.x;
  float v = i < N ? x[static_cast<size_t>(blockIdx.y) * N + i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int w = 0; w < 8; w++) sum += part[w];
    sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
  }
}

extern "C" __global__ void scan_sums(float* sums, int M, int chunks) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M) return;
  float running = 0.0f;
  for (int c = 0; c < chunks; c++) {
    const float v = sums[row * chunks + c];
    running += v;
    sums[row * chunks + c] = running;
  }
}

extern "C" __global__ void chunk_scan(const float* x, const float* sums, float* y, int N) {
  __shared__ float part[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = i < N ? x[static_cast<size_t>(blockIdx.y) * N + i] : 0.0f;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float below = __shfl_up_sync(0xffffffffu, v, offset);
    if (lane >= offset) v += below;
  }
  if (lane == 31) part[warp] = v;
  __syncthreads();
  float before = sums[blockIdx.y * gridDim.x + blockIdx.x];
  for (int w = 0; w < warp; w++) before += part[w];
  if (i < N) y[static_cast<size_t>(blockIdx.y) * N + i] = before + v;
}
