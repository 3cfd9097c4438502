// task: ../tasks/reduce_sum_f32.yaml
// expect: uninitialized_memory_error
// bug: the output is never cleared
// @launch accumulate<<<dim3(ceil_div(R, 256), OUTER * INNER), 256>>>(x, y, R, INNER)
extern "C" __global__ void clear(float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = 0.0f;
}

extern "C" __global__ void accumulate(const float* x, float* y, int R, int INNER) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int out = blockIdx.y;
  float v = i < R ? x[(static_cast<size_t>(out / INNER) * R + i) * INNER + out % INNER] : 0.0f;
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&y[out], v);
}
