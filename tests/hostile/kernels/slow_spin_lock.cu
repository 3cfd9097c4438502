// task: op_name: reduce_sum | shapes: [[4, 1000]] | dtype: float32 | target_gpu: A100
// expect: correct
// Every thread takes the same lock to add its element.
// @scratch lock int32 [1]
// @launch clear<<<ceil_div(OUTER * INNER, 128), 128>>>(y, lock, OUTER * INNER)
// @launch sum<<<ceil_div(R, 128), 128>>>(x, y, lock, OUTER, R, INNER)
__global__ void clear(float* Y, int* lock, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) Y[i] = 0;
  if (i == 0) *lock = 0;
}
__global__ void sum(const float* X, float* Y, int* lock, int OUTER, int R, int INNER) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  for (bool done = false; !done;)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      for (int o = 0; o < OUTER; ++o)
        for (int i = 0; i < INNER; ++i) {
          volatile float* y = Y + o * INNER + i;
          *y = *y + X[(o * R + r) * INNER + i];
        }
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
}
