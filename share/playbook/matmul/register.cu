// A block computes BM x BN of C, each thread TM x TN of it in registers: a value read from shared memory is used TM or TN times.
// Global and shared memory are read 16 bytes at a time; rows that are not a multiple of 16 bytes long are read by elements.
// @tune BM 64 128 32
// @tune BN 64 128 32
// @tune BK 16 8 32
// @tune TM 8 4 16
// @tune TN 4 8
// @where BM % (4 * TM) == 0 && BN % (8 * TN) == 0 && BK % {{vector}} == 0
// @where (BM / TM) * (BN / TN) >= 64 && (BM / TM) * (BN / TN) <= 512
{{if float64}}
// @where BK * (BM + BN + 4) * 8 <= 49152
{{else}}
// @where BK * (BM + BN + 8) * 4 <= 49152
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

// Brings EXTENT rows (or columns) of a matrix and BK of its inner dimension to shared memory, always with the inner dimension
// as the slow one. ALONG_K: the inner dimension is the contiguous one in global memory, so the tile is transposed.
template <int EXTENT, bool ALONG_K>
__device__ __forceinline__ void load_tile(Acc (&tile)[BK][EXTENT + kPad], const Element* source, int first, int extent, int k0, int K) {
  constexpr int kVectors = EXTENT * BK / kVector;
  constexpr int kLine = ALONG_K ? BK : EXTENT; // contiguous elements of the tile
  const int length = ALONG_K ? K : extent, lines = ALONG_K ? extent : K;
  const bool aligned = length % kVector == 0;
#pragma unroll
  for (int done = 0; done < kVectors; done += kThreads) {
    const int i = done + threadIdx.x;
    if (kVectors % kThreads != 0 && i >= kVectors)
      break;
    const int line = i / (kLine / kVector), at = i % (kLine / kVector) * kVector;
    const int y = (ALONG_K ? first : k0) + line, x = (ALONG_K ? k0 : first) + at;
    const Element* from = source + static_cast<long long>(y) * length + x;
    Vector v = {};
    if (aligned) {
      if (y < lines && x < length)
        v = *reinterpret_cast<const Vector*>(from);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; e++)
        if (y < lines && x + e < length)
          v.at[e] = from[e];
    }
    if constexpr (ALONG_K) {
#pragma unroll
      for (int e = 0; e < kVector; e++)
        tile[at + e][line] = static_cast<Acc>(v.at[e]);
    } else {
#pragma unroll
      for (int e = 0; e < kVector; e += kChunk) {
        Chunk chunk;
#pragma unroll
        for (int c = 0; c < kChunk; c++)
          chunk.at[c] = static_cast<Acc>(v.at[e + c]);
        *reinterpret_cast<Chunk*>(&tile[line][at + e]) = chunk;
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  __shared__ alignas(16) Acc a_tile[BK][BM + kPad];
  __shared__ alignas(16) Acc b_tile[BK][BN + kPad];
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
  Acc sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
{{if transposed_a}}
    load_tile<BM, false>(a_tile, A, row0, M, k0, K);
{{else}}
    load_tile<BM, true>(a_tile, A, row0, M, k0, K);
{{end}}
{{if transposed_b}}
    load_tile<BN, true>(b_tile, B, col0, N, k0, K);
{{else}}
    load_tile<BN, false>(b_tile, B, col0, N, k0, K);
{{end}}
    __syncthreads();
{{include parts/add_products.cu}}
    __syncthreads(); // the next tiles overwrite these
  }
{{include parts/store_sums.cu}}
}
