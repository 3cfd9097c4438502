// A warp computes ROWS results: its lanes read 16 bytes each of a row side by side, UNROLL such reads under way at once, and add up by
// shuffles at the end. A value of x that was read serves ROWS rows.
// @tune WARPS 4 8 2
// @tune ROWS 1 2 4
// @tune UNROLL 4 2 8 1
// @where ROWS * UNROLL <= 16
// @launch {{name}}<<<ceil_div(M, WARPS * ROWS), WARPS * 32>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}};
struct alignas(16) Vector {
  Element at[kVector];
};

extern "C" __global__ void __launch_bounds__(WARPS * 32) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % 32;
  const int row0 = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
  if (row0 >= M)
    return;
  const Element* rows[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) // a row that is not there is read as the last one and not stored
    rows[r] = A + static_cast<long long>(min(row0 + r, M - 1)) * N;
  Acc sum[ROWS] = {};
  if (N % kVector == 0) {
    int done = 0; // elements of the rows that all lanes together are through with
    for (; done + 32 * kVector * UNROLL <= N; done += 32 * kVector * UNROLL) {
      Vector a[UNROLL][ROWS], b[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        const int i = done + (u * 32 + lane) * kVector;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
          a[u][r] = *reinterpret_cast<const Vector*>(rows[r] + i);
        b[u] = *reinterpret_cast<const Vector*>(x + i);
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int e = 0; e < kVector; e++)
            sum[r] += static_cast<Acc>(a[u][r].at[e]) * static_cast<Acc>(b[u].at[e]);
    }
#pragma unroll 1
    for (int i = done + lane * kVector; i < N; i += 32 * kVector) { // what is too little for UNROLL
      const Vector b = *reinterpret_cast<const Vector*>(x + i);
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        const Vector a = *reinterpret_cast<const Vector*>(rows[r] + i);
#pragma unroll
        for (int e = 0; e < kVector; e++)
          sum[r] += static_cast<Acc>(a.at[e]) * static_cast<Acc>(b.at[e]);
      }
    }
  } else { // rows begin anywhere, so nothing wider than an element can be read
    for (int i = lane; i < N; i += 32)
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        sum[r] += static_cast<Acc>(rows[r][i]) * static_cast<Acc>(x[i]);
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    for (int offset = 16; offset > 0; offset /= 2)
      sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], offset);
    if (lane == 0 && row0 + r < M)
      y[row0 + r] = static_cast<Out>(sum[r]);
  }
}
