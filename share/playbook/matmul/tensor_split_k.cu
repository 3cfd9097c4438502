// Tensor cores with the inner dimension split over SPLIT blocks, which makes enough of them where C is small; each leaves its part of the
// sum in scratch memory, and a second launch adds the parts up. Within a block tiles come by a pipeline of cp.async, swizzled as in
// matmul_tensor_async.
// @tune BM 128 64 256 32
// @tune BN 64 128 256 32
{{if int8}}
// @tune BK 64 128
{{else}}
// @tune BK 64 32
{{end}}
// @tune WM 64 32 16
// @tune WN 32 64 16
// @tune SPLIT 4 2 3 5 6 8 16
// @tune STAGES 3 2 4 5
// @where BM % WM == 0 && BN % WN == 0
// @where (BM / WM) * (BN / WN) >= 2 && (BM / WM) * (BN / WN) <= 16
// @where WM * WN >= 512
// @where 16 * STAGES * (BM + BN) * BK / {{vector}} <= 98304
{{if batched}}
// @scratch partial {{scratch}} [BATCH * SPLIT * M * N]
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH * SPLIT), (BM / WM) * (BN / WN) * 32,
//         16 * STAGES * (BM + BN) * BK / {{vector}}>>>(A, B, partial, M, N, K)
{{else}}
// @scratch partial {{scratch}} [SPLIT * M * N]
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), SPLIT), (BM / WM) * (BN / WN) * 32,
//         16 * STAGES * (BM + BN) * BK / {{vector}}>>>(A, B, partial, M, N, K)
{{end}}
{{if bias}}
// @launch {{name}}_finish<<<ceil_div(M * N, 256), 256>>>(partial, bias, C, M, N)
{{else}}
{{if batched}}
// @launch {{name}}_finish<<<dim3(ceil_div(M * N, 256), 1, BATCH), 256>>>(partial, C, M, N)
{{else}}
// @launch {{name}}_finish<<<ceil_div(M * N, 256), 256>>>(partial, C, M, N)
{{end}}
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

template <int COUNT> struct alignas(sizeof(Acc) * COUNT) Run {
  Acc at[COUNT];
};

// Stores neighbours of a row at once where rows allow it.
template <int COUNT>
__device__ __forceinline__ void store_run(Acc* partial, const Acc (&sum)[COUNT], int row, int col, int M, int N) {
  if (row >= M || col >= N)
    return;
  Acc* to = partial + static_cast<long long>(row) * N + col;
  Run<COUNT> run;
#pragma unroll
  for (int e = 0; e < COUNT; e++)
    run.at[e] = sum[e];
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
    const Element* __restrict__ A, const Element* __restrict__ B, Acc* __restrict__ partial, int M, int N, int K) {
  extern __shared__ __align__(128) Unit stages[]; // of each stage the tile of A, then that of B
  constexpr int kATile = BM * BK / kVector, kStage = kATile + BN * BK / kVector;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
{{if batched}}
  A += static_cast<long long>(blockIdx.z / SPLIT) * M * K;
  B += static_cast<long long>(blockIdx.z / SPLIT) * K * N;
{{end}}
  partial += static_cast<long long>(blockIdx.z) * M * N;
  const int all = (K + BK - 1) / BK, share = (all + SPLIT - 1) / SPLIT;
  const int begin = blockIdx.z % SPLIT * share, tiles = max(0, min(all - begin, share));
  const auto fetch = [&](int t) { // a group of copies even when there is nothing left, so that the count of groups stays the same
    if (t < tiles) {
      Unit* stage = stages + t % STAGES * kStage;
      fetch_tile<BM, kAAlongK>(stage, A, row0, M, (begin + t) * BK, K);
      fetch_tile<BN, kBAlongK>(stage + kATile, B, col0, N, (begin + t) * BK, K);
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
          store_run<4>(partial, {left[0], right[0], left[1], right[1]}, row, col + quad * 4, M, N);
          continue;
        }
{{else}}
        const int row = row0 + warp_row + i * 16 + group + h * 8;
{{end}}
        store_run<2>(partial, left, row, col + quad * 2, M, N);
        store_run<2>(partial, right, row, col + 8 + quad * 2, M, N);
      }
}

{{include parts/finish_split.cu}}
