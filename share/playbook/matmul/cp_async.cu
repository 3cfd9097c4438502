// Register-blocked, with tiles copied by cp.async: they need no registers on their way, and STAGES - 1 of them are under way while one
// is multiplied. A copy cannot transpose, so a tile keeps the layout of its matrix; a thread takes 16 bytes along what is contiguous.
// @tune BM 64 128 32
// @tune BN 64 128 32
// @tune BK 16 8 32
// @tune TM 8 4
// @tune TN 4 8
// @tune STAGES 3 2 4
// @where BM % (4 * TM) == 0 && BN % (8 * TN) == 0
// @where (BM / TM) * (BN / TN) >= 64 && (BM / TM) * (BN / TN) <= 512
// @where 16 * STAGES * (BM + BN) * (BK / {{vector}} + 1) <= 98304
{{if batched}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH), (BM / TM) * (BN / TN),
//         16 * STAGES * (BM + BN) * (BK / {{vector}} + 1)>>>({{arguments}})
{{else}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / TM) * (BN / TN),
//         16 * STAGES * (BM + BN) * (BK / {{vector}} + 1)>>>({{arguments}})
{{end}}
{{types}}
constexpr int kVector = {{vector}}; // elements of 16 bytes
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kWarpRows = 4, kWarpColumns = 8; // threads of a warp
{{if transposed_a}}
constexpr bool kAAlongK = false; // which dimension is the contiguous one
{{else}}
constexpr bool kAAlongK = true; // which dimension is the contiguous one
{{end}}
{{if transposed_b}}
constexpr bool kBAlongK = true;
{{else}}
constexpr bool kBAlongK = false;
{{end}}

struct alignas(16) Vector {
  Element at[kVector];
};

// Vectors of a line of a tile. One more than needed along the inner dimension, because threads read different lines there:
// with an odd number of vectors they are in different banks.
template <int EXTENT, bool ALONG_K> constexpr int kLine = ALONG_K ? BK / kVector + 1 : EXTENT / kVector;

// Begins to copy EXTENT rows (or columns) by BK of the inner dimension to a stage. What lies outside the matrix becomes zero.
template <int EXTENT, bool ALONG_K>
__device__ __forceinline__ void fetch_tile(Vector* tile, const Element* source, int first, int extent, int k0, int K) {
  constexpr int kVectors = EXTENT * BK / kVector;
  constexpr int kAcross = (ALONG_K ? BK : EXTENT) / kVector;
  const int length = ALONG_K ? K : extent, lines = ALONG_K ? extent : K;
  const int first_line = ALONG_K ? first : k0, first_column = ALONG_K ? k0 : first;
  if (length % kVector == 0) {
#pragma unroll
    for (int done = 0; done < kVectors; done += kThreads) {
      const int i = done + threadIdx.x, line = i / kAcross, at = i % kAcross;
      if (kVectors % kThreads != 0 && i >= kVectors)
        break;
      const int y = first_line + line, x = first_column + at * kVector;
      const bool inside = y < lines && x < length;
      const Element* from = inside ? source + static_cast<long long>(y) * length + x : source;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(tile + line * kLine<EXTENT, ALONG_K> + at))),
                   "l"(from), "r"(inside ? 16 : 0)
                   : "memory");
    }
  } else { // lines begin anywhere, so nothing wider than an element can be read
    for (int i = threadIdx.x; i < kVectors; i += kThreads) {
      const int line = i / kAcross, at = i % kAcross;
      const int y = first_line + line, x = first_column + at * kVector;
      Vector v = {};
#pragma unroll
      for (int e = 0; e < kVector; e++)
        if (y < lines && x + e < length)
          v.at[e] = source[static_cast<long long>(y) * length + x + e];
      tile[line * kLine<EXTENT, ALONG_K> + at] = v;
    }
  }
}

// Which row (column) of a warp's tile is the i-th of a thread that is the `own`-th of ACROSS: neighbours take neighbouring vectors, or,
// where a vector lies along the inner dimension, neighbouring lines.
template <int ACROSS, bool ALONG_K>
__device__ __forceinline__ int place(int own, int i) {
  return ALONG_K ? i * ACROSS + own : (i / kVector * ACROSS + own) * kVector + i % kVector;
}

// A thread's T rows (columns) at kVector steps of the inner dimension, from step k on.
template <int EXTENT, int T, int ACROSS, bool ALONG_K>
__device__ __forceinline__ void load_fragment(Acc (&f)[kVector][T], const Vector* tile, int first, int own, int k) {
  if constexpr (ALONG_K) {
#pragma unroll
    for (int i = 0; i < T; i++) {
      const Vector v = tile[(first + place<ACROSS, true>(own, i)) * kLine<EXTENT, true> + k / kVector];
#pragma unroll
      for (int e = 0; e < kVector; e++)
        f[e][i] = v.at[e];
    }
  } else {
#pragma unroll
    for (int e = 0; e < kVector; e++)
#pragma unroll
      for (int i = 0; i < T; i += kVector) {
        const Vector v = tile[(k + e) * kLine<EXTENT, false> + (first + place<ACROSS, false>(own, i)) / kVector];
#pragma unroll
        for (int c = 0; c < kVector; c++)
          f[e][i + c] = v.at[c];
      }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  extern __shared__ Vector stages[]; // of each stage the tile of A, then that of B
  constexpr int kATile = BM * (BK / kVector + 1), kStage = kATile + BN * (BK / kVector + 1);
  constexpr int kWarpsAcross = BN / (kWarpColumns * TN);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int own_row = lane / kWarpColumns, own_col = lane % kWarpColumns;
  const int warp_row = warp / kWarpsAcross * kWarpRows * TM, warp_col = warp % kWarpsAcross * kWarpColumns * TN;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
{{if batched}}
  A += static_cast<long long>(blockIdx.z) * M * K;
  B += static_cast<long long>(blockIdx.z) * K * N;
  C += static_cast<long long>(blockIdx.z) * M * N;
{{end}}
  const int tiles = (K + BK - 1) / BK;
  const auto fetch = [&](int t) { // a group of copies even when there is nothing left, so that the count of groups stays the same
    if (t < tiles) {
      Vector* stage = stages + t % STAGES * kStage;
      fetch_tile<BM, kAAlongK>(stage, A, row0, M, t * BK, K);
      fetch_tile<BN, kBAlongK>(stage + kATile, B, col0, N, t * BK, K);
    }
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  };
  for (int t = 0; t < STAGES - 1; t++)
    fetch(t);
  Acc sum[TM][TN] = {};
  for (int t = 0; t < tiles; t++) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); // this stage is there for all, and the one before is no longer read
    fetch(t + STAGES - 1);
    const Vector* a_tile = stages + t % STAGES * kStage;
    const Vector* b_tile = a_tile + kATile;
#pragma unroll(16 / kVector)
    for (int k = 0; k < BK; k += kVector) {
      Acc a[kVector][TM], b[kVector][TN];
      load_fragment<BM, TM, kWarpRows, kAAlongK>(a, a_tile, warp_row, own_row, k);
      load_fragment<BN, TN, kWarpColumns, kBAlongK>(b, b_tile, warp_col, own_col, k);
#pragma unroll
      for (int e = 0; e < kVector; e++)
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
          for (int j = 0; j < TN; j++)
            sum[i][j] += a[e][i] * b[e][j];
    }
  }
  struct alignas(sizeof(Out) * kVector) Run {
    Out at[kVector];
  };
#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j += kVector) {
      const int row = row0 + warp_row + place<kWarpRows, kAAlongK>(own_row, i);
      Run run;
#pragma unroll
      for (int e = 0; e < kVector; e++) {
{{if bias}}
        const int col = col0 + warp_col + place<kWarpColumns, kBAlongK>(own_col, j + e);
        const Acc v = sum[i][j + e] + static_cast<Acc>(bias[min(col, N - 1)]);
        run.at[e] = static_cast<Out>({{expression}});
{{else}}
        run.at[e] = static_cast<Out>(sum[i][j + e]);
{{end}}
      }
      const int first = col0 + warp_col + place<kWarpColumns, kBAlongK>(own_col, j);
      Out* to = C + static_cast<long long>(row) * N;
      if (row < M && !kBAlongK && N % kVector == 0) {
        if (first < N)
          *reinterpret_cast<Run*>(to + first) = run;
      } else if (row < M) {
#pragma unroll
        for (int e = 0; e < kVector; e++) {
          const int col = col0 + warp_col + place<kWarpColumns, kBAlongK>(own_col, j + e);
          if (col < N)
            to[col] = run.at[e];
        }
      }
    }
}
