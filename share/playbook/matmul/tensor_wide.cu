{{if float64}}
// Tensor cores in double precision (mma.sync.m8n8k4), fed by a pipeline: while a warp multiplies one stage, cp.async fetches the next ones.
{{else}}
// Tensor cores in TF32 (mma.sync.m16n8k8; the task allows it), fed by a pipeline: while a warp multiplies one stage, cp.async fetches
// the next ones. Values are rounded to TF32 on their way from shared memory to the tensor cores, sums are kept in float.
{{end}}
// Tiles keep the layout they have in global memory; their lines are padded so that a fragment is read from different banks.
// @tune BM 64 128 32
// @tune BN 64 128 32
// @tune BK 16 32 8
// @tune WM 32 64 16
// @tune WN 32 64 16
// @tune STAGES 3 2 4
// @where BM % WM == 0 && BN % WN == 0 && WM * WN >= 512
// @where (BM / WM) * (BN / WN) >= 2 && (BM / WM) * (BN / WN) <= 16
{{if float64}}
// @where WM * WN <= 2048
// @where 8 * STAGES * (BM + BN + 8) * (BK + 4) <= 98304
{{else}}
// @where 4 * STAGES * (BM + BN + 16) * (BK + 8) <= 98304
{{end}}
{{if batched}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH), (BM / WM) * (BN / WN) * 32,
{{else}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / WM) * (BN / WN) * 32,
{{end}}
{{if float64}}
//         8 * STAGES * (BM + BN + 8) * (BK + 4)>>>({{arguments}})
{{else}}
//         4 * STAGES * (BM + BN + 16) * (BK + 8)>>>({{arguments}})
{{end}}
{{types}}
constexpr int kVector = {{vector}}; // elements of 16 bytes
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
{{if float64}}
constexpr int kMmaRows = 8, kMmaStep = 4; // of an mma, which is 8 columns wide
constexpr int kPad = 4;                   // of a buffer
constexpr int kPadAlongK = 4, kPadAcross = 4; // of a line: four lines of four neighbours fill the banks
{{else}}
constexpr int kMmaRows = 16, kMmaStep = 8; // of an mma, which is 8 columns wide
constexpr int kPad = 8;                    // of a buffer
constexpr int kPadAlongK = 4, kPadAcross = 8; // of a line: eight lines of four neighbours, or four of eight, fill the banks
{{end}}
constexpr int kHalves = kMmaRows / 8; // rows of eight, and steps of four, that a fragment has
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

template <int EXTENT, bool ALONG_K> constexpr int kLine = ALONG_K ? BK + kPadAlongK : EXTENT + kPadAcross; // elements of a line of a tile

// Begins to copy EXTENT rows (or columns) by BK of the inner dimension to a stage. What lies outside the matrix becomes zero.
template <int EXTENT, bool ALONG_K>
__device__ __forceinline__ void fetch_tile(Element* tile, const Element* source, int first, int extent, int k0, int K) {
  constexpr int kVectors = EXTENT * BK / kVector;
  constexpr int kAcross = (ALONG_K ? BK : EXTENT) / kVector;
  const int length = ALONG_K ? K : extent, lines = ALONG_K ? extent : K;
  const int first_line = ALONG_K ? first : k0, first_column = ALONG_K ? k0 : first;
  if (length % kVector == 0) {
#pragma unroll
    for (int done = 0; done < kVectors; done += kThreads) {
      const int i = done + threadIdx.x, line = i / kAcross, at = i % kAcross * kVector;
      if (kVectors % kThreads != 0 && i >= kVectors)
        break;
      const int y = first_line + line, x = first_column + at;
      const bool inside = y < lines && x < length;
      const Element* from = inside ? source + static_cast<long long>(y) * length + x : source;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(tile + line * kLine<EXTENT, ALONG_K> + at))),
                   "l"(from), "r"(inside ? 16 : 0)
                   : "memory");
    }
  } else { // lines begin anywhere, so nothing wider than an element can be read
    for (int i = threadIdx.x; i < EXTENT * BK; i += kThreads) {
      const int line = i / (kAcross * kVector), at = i % (kAcross * kVector);
      const int y = first_line + line, x = first_column + at;
      tile[line * kLine<EXTENT, ALONG_K> + at] = y < lines && x < length ? source[static_cast<long long>(y) * length + x] : 0;
    }
  }
}

{{if float64}}
using Operand = double;
__device__ __forceinline__ Operand operand(Element v) { return v; }

__device__ __forceinline__ void multiply(Acc (&c)[2], const Operand (&a)[1], const Operand (&b)[1]) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a[0]), "d"(b[0]));
}
{{else}}
using Operand = unsigned int;
__device__ __forceinline__ Operand operand(Element v) {
  Operand bits;
  asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(bits) : "f"(v));
  return bits;
}

__device__ __forceinline__ void multiply(Acc (&c)[4], const Operand (&a)[4], const Operand (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
{{end}}

template <int EXTENT, bool ALONG_K>
__device__ __forceinline__ Operand element(const Element* tile, int at, int k) {
  return operand(tile[ALONG_K ? at * kLine<EXTENT, true> + k : k * kLine<EXTENT, false> + at]);
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  extern __shared__ __align__(128) Element stages[]; // of each stage the tile of A, then that of B
  constexpr int kATile = (BM + kPad) * (BK + kPad), kStage = kATile + (BN + kPad) * (BK + kPad); // room for either layout
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int group = lane / 4, quad = lane % 4;
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
      Element* stage = stages + t % STAGES * kStage;
      fetch_tile<BM, kAAlongK>(stage, A, row0, M, t * BK, K);
      fetch_tile<BN, kBAlongK>(stage + kATile, B, col0, N, t * BK, K);
    }
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  };
  for (int t = 0; t < STAGES - 1; t++)
    fetch(t);
  Acc sum[WM / kMmaRows][WN / 8][2 * kHalves] = {};
  for (int t = 0; t < tiles; t++) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); // this stage is there for all, and the one before is no longer read
    fetch(t + STAGES - 1);
    const Element* a_tile = stages + t % STAGES * kStage;
    const Element* b_tile = a_tile + kATile;
#pragma unroll
    for (int k = 0; k < BK; k += kMmaStep) {
      Operand a[WM / kMmaRows][kHalves * kHalves], b[WN / 8][kHalves];
#pragma unroll
      for (int i = 0; i < WM / kMmaRows; i++)
#pragma unroll
        for (int h = 0; h < kHalves * kHalves; h++)
          a[i][h] = element<BM, kAAlongK>(a_tile, warp_row + i * kMmaRows + h % kHalves * 8 + group, k + h / kHalves * 4 + quad);
#pragma unroll
      for (int j = 0; j < WN / 8; j++)
#pragma unroll
        for (int h = 0; h < kHalves; h++)
          b[j][h] = element<BN, kBAlongK>(b_tile, warp_col + j * 8 + group, k + h * 4 + quad);
#pragma unroll
      for (int i = 0; i < WM / kMmaRows; i++)
#pragma unroll
        for (int j = 0; j < WN / 8; j++)
          multiply(sum[i][j], a[i], b[j]);
    }
  }
  struct alignas(sizeof(Out) * 2) Pair {
    Out at[2];
  };
#pragma unroll
  for (int i = 0; i < WM / kMmaRows; i++)
#pragma unroll
    for (int j = 0; j < WN / 8; j++)
#pragma unroll
      for (int h = 0; h < kHalves; h++) { // a thread holds two neighbours of a row
        const int row = row0 + warp_row + i * kMmaRows + h * 8 + group, col = col0 + warp_col + j * 8 + quad * 2;
        if (row >= M || col >= N)
          continue;
        Pair pair;
#pragma unroll
        for (int e = 0; e < 2; e++) {
{{if bias}}
          const Acc v = sum[i][j][h * 2 + e] + static_cast<Acc>(bias[min(col + e, N - 1)]);
          pair.at[e] = static_cast<Out>({{expression}});
{{else}}
          pair.at[e] = static_cast<Out>(sum[i][j][h * 2 + e]);
{{end}}
        }
        Out* to = C + static_cast<long long>(row) * N + col;
        if (N % 2 == 0) {
          *reinterpret_cast<Pair*>(to) = pair;
        } else {
          to[0] = pair.at[0];
          if (col + 1 < N)
            to[1] = pair.at[1];
        }
      }
}
