// task: ../tasks/embedding_f32_aligned.yaml
// expect: uninitialized_memory_error
// bug: only the first 8 vectors of a row are copied
// @launch embedding_float4<<<ceil_div(T, 4), dim3(32, 4)>>>(indices, table, y, T, D)
extern "C" __global__ void embedding_float4(const int* __restrict__ indices, const float* __restrict__ table,
                                            float* __restrict__ y, int T, int D) {
  const int token = blockIdx.x * 4 + threadIdx.y;
  if (token >= T) return;
  const float4* source = reinterpret_cast<const float4*>(table + static_cast<size_t>(indices[token]) * D);
  float4* target = reinterpret_cast<float4*>(y + static_cast<size_t>(token) * D);
  if (const int i = threadIdx.x; i < min(D / 4, 8)) target[i] = __ldg(source + i);
}
