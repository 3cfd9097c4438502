// Tensor cores fed by a pipeline: while a warp multiplies fragments of one stage (ldmatrix, mma.sync), cp.async fetches the next stages.
// Tiles keep the layout they have in global memory. Their 16-byte units are permuted by the line (an xor), so that the eight lines of a
// matrix of ldmatrix lie in different banks without padding.
// @tune BM 128 64 256 32
// @tune BN 64 128 256 32
{{if int8}}
// @tune BK 64 128
{{else}}
// @tune BK 64 32
{{end}}
// @tune WM 64 32 16
// @tune WN 32 64 16
// @tune STAGES 3 2 4 5
// @where BM % WM == 0 && BN % WN == 0
// @where (BM / WM) * (BN / WN) >= 2 && (BM / WM) * (BN / WN) <= 16
// @where WM * WN >= 512
// @where 16 * STAGES * (BM + BN) * BK / {{vector}} <= 98304
{{if batched}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH), (BM / WM) * (BN / WN) * 32,
//         16 * STAGES * (BM + BN) * BK / {{vector}}>>>({{arguments}})
{{else}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / WM) * (BN / WN) * 32,
//         16 * STAGES * (BM + BN) * BK / {{vector}}>>>({{arguments}})
{{end}}
{{types}}
using Bits = unsigned int;

{{include parts/tensor_tile.cu}}

struct alignas(16) Unit {
  Element at[kVector];
};

{{include parts/place.cu}}

{{include parts/fetch_tile.cu}}

{{include parts/load_matrices.cu}}

{{include parts/load_transposed.cu}}

{{include parts/permuted_line.cu}}

{{include parts/load_b.cu}}

{{include parts/multiply.cu}}

template <int COUNT> struct alignas(sizeof(Out) * COUNT) Run {
  Out at[COUNT];
};

// Stores neighbours of a row at once where rows allow it.
template <int COUNT>
{{if bias}}
__device__ __forceinline__ void store_run(Out* C, const Acc (&sum)[COUNT], int row, int col, int M, int N, const Element* bias) {
{{else}}
__device__ __forceinline__ void store_run(Out* C, const Acc (&sum)[COUNT], int row, int col, int M, int N) {
{{end}}
  if (row >= M || col >= N)
    return;
  Run<COUNT> run;
#pragma unroll
  for (int e = 0; e < COUNT; e++) {
{{if bias}}
    const Acc v = sum[e] + static_cast<Acc>(bias[min(col + e, N - 1)]);
    run.at[e] = static_cast<Out>({{expression}});
{{else}}
    run.at[e] = static_cast<Out>(sum[e]);
{{end}}
  }
  Out* to = C + static_cast<long long>(row) * N + col;
  if (N % COUNT == 0) {
    *reinterpret_cast<Run<COUNT>*>(to) = run;
  } else {
#pragma unroll
    for (int e = 0; e < COUNT; e++)
      if (col + e < N)
        to[e] = run.at[e];
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  extern __shared__ __align__(128) Unit stages[]; // of each stage the tile of A, then that of B
  constexpr int kATile = BM * BK / kVector, kStage = kATile + BN * BK / kVector;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
{{if batched}}
  A += static_cast<long long>(blockIdx.z) * M * K;
  B += static_cast<long long>(blockIdx.z) * K * N;
  C += static_cast<long long>(blockIdx.z) * M * N;
{{end}}
  const int tiles = (K + BK - 1) / BK;
  const auto fetch = [&](int t) { // a group of copies even when there is nothing left, so that the count of groups stays the same
    if (t < tiles) {
      Unit* stage = stages + t % STAGES * kStage;
      fetch_tile<BM, kAAlongK>(stage, A, row0, M, t * BK, K);
      fetch_tile<BN, kBAlongK>(stage + kATile, B, col0, N, t * BK, K);
    }
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  };
{{include parts/multiply_stages.cu}}
  // Of a result of 16 x 8 a thread holds two neighbours in each of two rows; two results side by side are stored together.
  const int group = lane / 4, quad = lane % 4;
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int j = 0; j < WN / 8; j += 2)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const Acc left[2] = {sum[i][j][h * 2], sum[i][j][h * 2 + 1]};
        const Acc right[2] = {sum[i][j + 1][h * 2], sum[i][j + 1][h * 2 + 1]};
        const int col = col0 + warp_col + j * 8;
{{if int8}}
        // Parting the bytes of two neighbours has permuted the rows (columns) of 16.
        const int row = row0 + warp_row + i * 16 + (kAAlongK ? group + h * 8 : group * 2 + h);
        if constexpr (!kBAlongK) {
          store_run<4>(C, {left[0], right[0], left[1], right[1]}, row, col + quad * 4, M, N);
          continue;
        }
{{else}}
        const int row = row0 + warp_row + i * 16 + group + h * 8;
{{end}}
{{if bias}}
        store_run<2>(C, left, row, col + quad * 2, M, N, bias);
        store_run<2>(C, right, row, col + 8 + quad * 2, M, N, bias);
{{else}}
        store_run<2>(C, left, row, col + quad * 2, M, N);
        store_run<2>(C, right, row, col + 8 + quad * 2, M, N);
{{end}}
      }
}
