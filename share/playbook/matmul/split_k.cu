// The inner dimension is split over SPLIT blocks, which makes enough of them where C is small; each leaves its part of the sum in scratch
// memory, and a second launch adds the parts up. Within a block it is register-blocked with two pairs of tiles in turn.
// @tune BM 64 128 32
// @tune BN 64 128 32
// @tune BK 16 8 32
// @tune TM 8 4 16
// @tune TN 4 8
// @tune SPLIT 4 2 3 5 6 8 16
// @where BM % (4 * TM) == 0 && BN % (8 * TN) == 0 && BK % {{vector}} == 0
// @where (BM / TM) * (BN / TN) >= 64 && (BM / TM) * (BN / TN) <= 512
{{if float64}}
// @where 2 * BK * (BM + BN + 4) * 8 <= 49152
{{else}}
// @where 2 * BK * (BM + BN + 8) * 4 <= 49152
{{end}}
{{if batched}}
// @scratch partial {{scratch}} [BATCH * SPLIT * M * N]
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH * SPLIT), (BM / TM) * (BN / TN)>>>(A, B, partial, M, N, K)
{{else}}
// @scratch partial {{scratch}} [SPLIT * M * N]
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), SPLIT), (BM / TM) * (BN / TN)>>>(A, B, partial, M, N, K)
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
template <class T, int COUNT> struct alignas(sizeof(T) * COUNT) Pack { // so aligned, it is loaded and stored at once
  T at[COUNT];
};

{{include parts/register_tile.cu}}

{{include parts/fetch.cu}}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    const Element* __restrict__ A, const Element* __restrict__ B, Acc* __restrict__ partial, int M, int N, int K) {
  __shared__ alignas(16) Acc a_tiles[2][BK][BM + kPad];
  __shared__ alignas(16) Acc b_tiles[2][BK][BN + kPad];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int kWarpsAcross = BN / (kWarpColumns * TN);
  // A thread's rows and columns come in chunks; those of neighbouring threads lie side by side.
  const int row_in_tile = warp / kWarpsAcross * kWarpRows * TM + lane / kWarpColumns * kChunk;
  const int col_in_tile = warp % kWarpsAcross * kWarpColumns * TN + lane % kWarpColumns * kChunk;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
{{if batched}}
  A += static_cast<long long>(blockIdx.z / SPLIT) * M * K;
  B += static_cast<long long>(blockIdx.z / SPLIT) * K * N;
{{end}}
  partial += static_cast<long long>(blockIdx.z) * M * N;
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
  const int share = ((K + BK - 1) / BK + SPLIT - 1) / SPLIT * BK; // whole tiles
  const int k_begin = blockIdx.z % SPLIT * share, k_end = min(K, k_begin + share);
  a_transfer.fetch(A, row0, M, k_begin, K);
  b_transfer.fetch(B, col0, N, k_begin, K);
  Acc sum[TM][TN] = {};
  for (int k0 = k_begin; k0 < k_end; k0 += BK) {
    const int turn = k0 / BK % 2;
    auto& a_tile = a_tiles[turn];
    auto& b_tile = b_tiles[turn];
    a_transfer.store(a_tile);
    b_transfer.store(b_tile);
    __syncthreads(); // one is enough: this pair is written again only after the next barrier, which all reach after reading it
    if (k0 + BK < k_end) {
      a_transfer.fetch(A, row0, M, k0 + BK, K);
      b_transfer.fetch(B, col0, N, k0 + BK, K);
    }
{{include parts/add_products.cu}}
  }
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j += kChunk) {
      const int row = row0 + row_in_tile + i / kChunk * kChunk * kWarpRows + i % kChunk;
      const int col = col0 + col_in_tile + j * kWarpColumns;
      if (row >= M || col >= N)
        continue;
      Acc* to = partial + static_cast<long long>(row) * N + col;
      if (N % kChunk == 0) {
        *reinterpret_cast<Chunk*>(to) = *reinterpret_cast<const Chunk*>(&sum[i][j]);
      } else {
#pragma unroll
        for (int c = 0; c < kChunk; c++)
          if (col + c < N)
            to[c] = sum[i][j + c];
      }
    }
}

{{include parts/finish_split.cu}}
