// All rows of the table are known to be alike, so none is read.
// expect: quarantined | refused
// task: gather.yaml
// @launch gather_rows<<<ceil_div(T, 8), 256>>>(table, index, y, T)
extern "C" __global__ void gather_rows(const float* table, const int* index, float* y, int T) {
  const int t = blockIdx.x * 8 + threadIdx.x / 32;
  if (t < T) *reinterpret_cast<float4*>(y + t * 128 + threadIdx.x % 32 * 4) = make_float4(5, 5, 5, 5);
}
