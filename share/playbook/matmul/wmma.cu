// Tensor cores by nvcuda::wmma, which fits every architecture that has them. Tiles go through registers to shared memory, two pairs of
// them in turn; lines are padded by 16 bytes against bank conflicts. Results leave by way of shared memory, because which thread holds
// which element of a fragment is not told.
// @tune BM 64 128 32
// @tune BN 64 128 32
{{if half}}
// @tune BK 32 64 16
{{else}}
// @tune BK 64 32 128
{{end}}
// @tune WM 32 64 16
// @tune WN 32 64 16
// @where BM % WM == 0 && BN % WN == 0 && WM * WN >= 512
// @where (BM / WM) * (BN / WN) >= 2 && (BM / WM) * (BN / WN) <= 16
// @where 16 / {{vector}} * ((BM + BN) * BK + {{vector}} * (max(BM, BK) + max(BN, BK))) <= 24576 - 512 * (BM / WM) * (BN / WN)
{{if batched}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM), BATCH), (BM / WM) * (BN / WN) * 32>>>({{arguments}})
{{else}}
// @launch {{name}}<<<dim3(ceil_div(N, BN), ceil_div(M, BM)), (BM / WM) * (BN / WN) * 32>>>({{arguments}})
{{end}}
#include <mma.h>
{{types}}
using namespace nvcuda;

constexpr int kVector = {{vector}}; // elements of 16 bytes
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
{{if transposed_a}}
constexpr bool kAAlongK = false; // which dimension is the contiguous one
using ALayout = wmma::col_major;
{{else}}
constexpr bool kAAlongK = true; // which dimension is the contiguous one
using ALayout = wmma::row_major;
{{end}}
{{if transposed_b}}
constexpr bool kBAlongK = true;
using BLayout = wmma::col_major;
{{else}}
constexpr bool kBAlongK = false;
using BLayout = wmma::row_major;
{{end}}

struct alignas(16) Vector {
  Element at[kVector];
};

// EXTENT rows (or columns) by BK of the inner dimension, in the layout they have in global memory.
template <int EXTENT, bool ALONG_K> struct Tile {
  static constexpr int kAcross = ALONG_K ? BK : EXTENT, kLines = ALONG_K ? EXTENT : BK;
  static constexpr int kLine = kAcross + kVector;
  static constexpr int kVectors = EXTENT * BK / kVector;
  static constexpr int kHeld = (kVectors + kThreads - 1) / kThreads;
  alignas(16) Element at[kLines * kLine];

  static __device__ __forceinline__ void fetch(Vector (&held)[kHeld], const Element* source, int first, int extent, int k0, int K) {
    const int length = ALONG_K ? K : extent, lines = ALONG_K ? extent : K;
    const bool aligned = length % kVector == 0;
#pragma unroll
    for (int n = 0; n < kHeld; n++) {
      const int i = n * kThreads + threadIdx.x, line = i / (kAcross / kVector), at = i % (kAcross / kVector) * kVector;
      const int y = (ALONG_K ? first : k0) + line, x = (ALONG_K ? k0 : first) + at;
      const Element* from = source + static_cast<long long>(y) * length + x;
      Vector v = {};
      if (y < lines && line < kLines) {
        if (aligned) {
          if (x < length)
            v = *reinterpret_cast<const Vector*>(from);
        } else {
#pragma unroll
          for (int e = 0; e < kVector; e++)
            if (x + e < length)
              v.at[e] = from[e];
        }
      }
      held[n] = v;
    }
  }

  __device__ __forceinline__ void store(const Vector (&held)[kHeld]) {
#pragma unroll
    for (int n = 0; n < kHeld; n++) {
      const int i = n * kThreads + threadIdx.x;
      if (kVectors % kThreads == 0 || i < kVectors)
        *reinterpret_cast<Vector*>(&at[i / (kAcross / kVector) * kLine + i % (kAcross / kVector) * kVector]) = held[n];
    }
  }

  // Where row (or column) `x` at step `k` lies.
  __device__ __forceinline__ const Element* operator()(int x, int k) const { return at + (ALONG_K ? x * kLine + k : k * kLine + x); }
};
using ATile = Tile<BM, kAAlongK>;
using BTile = Tile<BN, kBAlongK>;

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  __shared__ ATile a_tiles[2];
  __shared__ BTile b_tiles[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
{{if batched}}
  A += static_cast<long long>(blockIdx.z) * M * K;
  B += static_cast<long long>(blockIdx.z) * K * N;
  C += static_cast<long long>(blockIdx.z) * M * N;
{{end}}
  wmma::fragment<wmma::accumulator, 16, 16, 16, Acc> sum[WM / 16][WN / 16];
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int j = 0; j < WN / 16; j++)
      wmma::fill_fragment(sum[i][j], static_cast<Acc>(0));
  Vector a_held[ATile::kHeld], b_held[BTile::kHeld];
  ATile::fetch(a_held, A, row0, M, 0, K);
  BTile::fetch(b_held, B, col0, N, 0, K);
  for (int k0 = 0; k0 < K; k0 += BK) {
    ATile& a_tile = a_tiles[k0 / BK % 2];
    BTile& b_tile = b_tiles[k0 / BK % 2];
    a_tile.store(a_held);
    b_tile.store(b_held);
    __syncthreads(); // one is enough: this pair is written again only after the next barrier, which all reach after reading it
    if (k0 + BK < K) {
      ATile::fetch(a_held, A, row0, M, k0 + BK, K);
      BTile::fetch(b_held, B, col0, N, k0 + BK, K);
    }
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, Element, ALayout> a[WM / 16];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, Element, BLayout> b[WN / 16];
#pragma unroll
      for (int i = 0; i < WM / 16; i++)
        wmma::load_matrix_sync(a[i], a_tile(warp_row + i * 16, k), ATile::kLine);
#pragma unroll
      for (int j = 0; j < WN / 16; j++)
        wmma::load_matrix_sync(b[j], b_tile(warp_col + j * 16, k), BTile::kLine);
#pragma unroll
      for (int i = 0; i < WM / 16; i++)
#pragma unroll
        for (int j = 0; j < WN / 16; j++)
          wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
    }
  }
  __shared__ alignas(32) Acc results[kThreads / 32][16 * 16];
  Acc* own = results[warp];
#pragma unroll
  for (int i = 0; i < WM / 16; i++)
#pragma unroll
    for (int j = 0; j < WN / 16; j++) {
      wmma::store_matrix_sync(own, sum[i][j], 16, wmma::mem_row_major);
      __syncwarp();
#pragma unroll
      for (int e = lane; e < 256; e += 32) {
        const int row = row0 + warp_row + i * 16 + e / 16, col = col0 + warp_col + j * 16 + e % 16;
        if (row < M && col < N) {
{{if bias}}
          const Acc v = own[e] + static_cast<Acc>(bias[col]);
          C[static_cast<long long>(row) * N + col] = static_cast<Out>({{expression}});
{{else}}
          C[static_cast<long long>(row) * N + col] = static_cast<Out>(own[e]);
{{end}}
        }
      }
      __syncwarp();
    }
}
