// Rows that are named are read, and no others; the table is larger than what is read of it.
// expect: possible
// task: gather.yaml
// @launch gather_rows<<<ceil_div(T, 8), 256>>>(table, index, y, T)
extern "C" __global__ void gather_rows(const float* table, const int* index, float* y, int T) {
  const int t = blockIdx.x * 8 + threadIdx.x / 32;
  if (t >= T) return;
  const int lane = threadIdx.x % 32 * 4;
  *reinterpret_cast<float4*>(y + t * 128 + lane) = *reinterpret_cast<const float4*>(table + index[t] * 128 + lane);
}
