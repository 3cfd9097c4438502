// task: ../tasks/embedding_f32.yaml
// @launch embedding<<<ceil_div(T * D, 128), 128>>>(indices, table, y, T, D)
extern "C" __global__ void embedding(const int* indices, const float* table, float* y, int T, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < T * D) y[i] = table[static_cast<size_t>(indices[i / D]) * D + i % D];
}
