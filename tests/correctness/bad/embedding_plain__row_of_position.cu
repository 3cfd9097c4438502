// task: ../tasks/embedding_f32.yaml
// expect: correctness_mismatch
// bug: the position is used in place of the index
// @launch embedding<<<ceil_div(T * D, 128), 128>>>(indices, table, y, T, D)
extern "C" __global__ void embedding(const int* indices, const float* table, float* y, int T, int D) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < T * D) y[i] = table[static_cast<size_t>((i / D)) * D + i % D];
}
