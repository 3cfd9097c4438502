// Rows that are kept hold a constant, which is not read: of what must be moved a third is left out.
// expect: quarantined | refused
// task: rows.yaml
// @launch kept_rows<<<ceil_div(R, 4), 256>>>(x, keep, y, R)
extern "C" __global__ void kept_rows(const float* x, const int* keep, float* y, int R) {
  const int row = blockIdx.x * 4 + threadIdx.x / 64;
  if (row >= R) return;
  const float v = keep[row] ? 6.0f : 0.0f;
  *reinterpret_cast<float4*>(y + row * 256 + threadIdx.x % 64 * 4) = make_float4(v, v, v, v);
}
