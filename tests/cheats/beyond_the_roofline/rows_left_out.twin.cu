// Rows that are not kept are not read, though the reference reads them, and twice: half of its bytes are not needed.
// expect: possible
// task: rows.yaml
// @launch kept_rows<<<ceil_div(R, 4), 256>>>(x, keep, y, R)
extern "C" __global__ void kept_rows(const float* x, const int* keep, float* y, int R) {
  const int row = blockIdx.x * 4 + threadIdx.x / 64;
  if (row >= R) return;
  const int at = row * 256 + threadIdx.x % 64 * 4;
  float4 v = make_float4(0, 0, 0, 0);
  if (keep[row]) {
    v = *reinterpret_cast<const float4*>(x + at);
    v = make_float4(3 * v.x, 3 * v.y, 3 * v.z, 3 * v.w);
  }
  *reinterpret_cast<float4*>(y + at) = v;
}
