// task: ../tasks/matvec_f32.yaml
// expect: race_or_sync_error
// bug: the slab is used before it is filled
// @launch matvec_shared<<<ceil_div(M, 8), dim3(32, 8)>>>(A, x, y, M, N)
extern "C" __global__ void matvec_shared(const float* A, const float* x, float* y, int M, int N) {
  __shared__ float slab[256];
  const int row = blockIdx.x * 8 + threadIdx.y;
  const int tid = threadIdx.y * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int base = 0; base < N; base += 256) {
    slab[tid] = base + tid < N ? x[base + tid] : 0.0f;
    if (row < M)
      for (int i = threadIdx.x; i < 256 && base + i < N; i += 32) sum += A[row * N + base + i] * slab[i];
    __syncthreads();
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (row < M && threadIdx.x == 0) y[row] = sum;
}
