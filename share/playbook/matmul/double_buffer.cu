// A block computes BM x BN of C, each thread TM x TN of it in registers, from two pairs of tiles in turn: while one is multiplied, the next
// is on its way from global memory to registers, and is then written to the other pair. That takes one barrier a tile instead of two.
// Rows that are not a multiple of 16 bytes long are read by elements.
// @tune BM 64 128 32
// @tune BN 64 128 32
// @tune BK 16 8 32
// @tune TM 8 4 16
// @tune TN 4 8
// @where BM % (4 * TM) == 0 && BN % (8 * TN) == 0 && BK % {{vector}} == 0
// @where (BM / TM) * (BN / TN) >= 64 && (BM / TM) * (BN / TN) <= 512
{{if float64}}
// @where 2 * BK * (BM + BN + 4) * 8 <= 49152
{{else}}
// @where 2 * BK * (BM + BN + 8) * 4 <= 49152
{{end}}
{{if batched}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH), (BM / TM) * (BN / TN)>>>({{arguments}})
{{else}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / TM) * (BN / TN)>>>({{arguments}})
{{end}}
{{types}}
template <class T, int COUNT> struct alignas(sizeof(T) * COUNT) Pack { // so aligned, it is loaded and stored at once
  T at[COUNT];
};

{{include parts/register_tile.cu}}

{{include parts/fetch.cu}}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  __shared__ alignas(16) Acc a_tiles[2][BK][BM + kPad];
  __shared__ alignas(16) Acc b_tiles[2][BK][BN + kPad];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kWarpsAcross = BN / (kWarpColumns * TN);
  // A thread's rows and columns come in chunks; those of neighbouring threads lie side by side.
  const int row_in_tile = warp / kWarpsAcross * kWarpRows * TM + lane / kWarpColumns * kChunk;
  const int col_in_tile = warp % kWarpsAcross * kWarpColumns * TN + lane % kWarpColumns * kChunk;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
{{if batched}}
  A += static_cast<long long>(blockIdx.z) * M * K;
  B += static_cast<long long>(blockIdx.z) * K * N;
  C += static_cast<long long>(blockIdx.z) * M * N;
{{end}}
{{if transposed_a}}
  Transfer<BM, false> a_transfer;
{{else}}
  Transfer<BM, true> a_transfer;
{{end}}
{{if transposed_b}}
  Transfer<BN, true> b_transfer;
{{else}}
  Transfer<BN, false> b_transfer;
{{end}}
  a_transfer.fetch(A, row0, M, 0, K);
  b_transfer.fetch(B, col0, N, 0, K);
  Acc sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    const int turn = k0 / BK % 2;
    auto& a_tile = a_tiles[turn];
    auto& b_tile = b_tiles[turn];
    a_transfer.store(a_tile);
    b_transfer.store(b_tile);
    __syncthreads(); // one is enough: this pair is written again only after the next barrier, which all reach after reading it
    if (k0 + BK < K) {
      a_transfer.fetch(A, row0, M, k0 + BK, K);
      b_transfer.fetch(B, col0, N, k0 + BK, K);
    }
{{include parts/add_products.cu}}
  }
{{include parts/store_sums.cu}}
}
