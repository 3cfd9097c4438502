// task: ../tasks/reduce_sum_f32.yaml
// expect: uninitialized_memory_error
// bug: the tickets start from whatever scratch holds
// @scratch partial float [OUTER * INNER * 8]
// @scratch tickets int [OUTER * INNER]
// @launch last_block<<<dim3(8, OUTER * INNER), 64>>>(x, partial, tickets, y, R, INNER)
extern "C" __global__ void reset(int* tickets, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) tickets[i] = 0;
}

extern "C" __global__ void last_block(const float* x, volatile float* partial, int* tickets, float* y, int R,
                                      int INNER) {
  __shared__ float part[64];
  __shared__ bool last;
  const int out = blockIdx.y, tid = threadIdx.x;
  float sum = 0.0f;
  for (int i = blockIdx.x * 64 + tid; i < R; i += gridDim.x * 64)
    sum += x[(static_cast<size_t>(out / INNER) * R + i) * INNER + out % INNER];
  part[tid] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (tid < half) part[tid] += part[tid + half];
    __syncthreads();
  }
  if (tid == 0) {
    partial[out * 8 + blockIdx.x] = part[0];
    __threadfence();
    last = atomicAdd(&tickets[out], 1) == 7;
  }
  __syncthreads();
  if (last && tid == 0) {
    __threadfence();
    float total = 0.0f;
    for (int p = 0; p < 8; p++) total += partial[out * 8 + p];
    y[out] = total;
  }
}
