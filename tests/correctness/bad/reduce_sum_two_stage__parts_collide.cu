// task: ../tasks/reduce_sum_f32.yaml
// expect: race_or_sync_error
// bug: all parts of a row store to one slot
// @tune PARTS 8 4 16
// @scratch partial float [OUTER * INNER * PARTS]
// @launch stage_one<<<dim3(PARTS, OUTER * INNER), 64>>>(x, partial, R, INNER)
// @launch stage_two<<<ceil_div(OUTER * INNER, 64), 64>>>(partial, y, OUTER * INNER)
extern "C" __global__ void stage_one(const float* x, float* partial, int R, int INNER) {
  __shared__ float part[64];
  const int out = blockIdx.y;
  float sum = 0.0f;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < R; i += PARTS * 64)
    sum += x[(static_cast<size_t>(out / INNER) * R + i) * INNER + out % INNER];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[out * PARTS] = part[0];
}

extern "C" __global__ void stage_two(const float* partial, float* y, int count) {
  const int out = blockIdx.x * blockDim.x + threadIdx.x;
  if (out >= count) return;
  float sum = 0.0f;
  for (int p = 0; p < PARTS; p++) sum += partial[out * PARTS + p];
  y[out] = sum;
}
