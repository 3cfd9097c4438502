// task: ../tasks/cumsum_i32.yaml
// expect: correctness_mismatch
// bug: the carry is taken from the wrong lane
// @launch cumsum_i32<<<M, 32>>>(x, y, M, N)
extern "C" __global__ void cumsum_i32(const int* x, int* y, int M, int N) {
  const size_t base = static_cast<size_t>(blockIdx.x) * N;
  const int lane = threadIdx.x;
  int carry = 0;
  for (int start = 0; start < N; start += 32) {
    int v = start + lane < N ? x[base + start + lane] : 0;
    for (int offset = 1; offset < 32; offset *= 2) {
      const int below = __shfl_up_sync(0xffffffffu, v, offset);
      if (lane >= offset) v += below;
    }
    if (start + lane < N) y[base + start + lane] = carry + v;
    carry += __shfl_sync(0xffffffffu, v, 30);
  }
}
