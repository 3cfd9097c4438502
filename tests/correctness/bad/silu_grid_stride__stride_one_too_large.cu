// task: ../tasks/silu_f32.yaml
// expect: uninitialized_memory_error
// bug: one element is skipped at every step
// @launch silu_grid_stride<<<8, 128>>>(x, y, N)
extern "C" __global__ void silu_grid_stride(const float* x, float* y, int N) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x + 1) {
    const float v = x[i];
    y[i] = v / (1.0f + expf(-v));
  }
}
