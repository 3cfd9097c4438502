// On the tensor cores: BM output channels x (TP x TQ) output pixels a block. A step takes CHANNELS input channels: the patch of
// input under the tile, channels innermost, and all weights of these channels. Every position of the filter then reads the same
// patch at other rows, so that an input value comes once from memory. Weights are first brought into that order, with zeros for
// channels that do not exist. The patch of the next step is on its way in registers while this one is computed. A patch begins and
// ends on boundaries of four pixels, which adds six columns at most.
// @tune BM 64 128 32
{{if conv2d}}
// @tune TP 16 8 4
// @tune TQ 8 16 32
{{else}}
// @tune TP 1
// @tune TQ 128 64 256
{{end}}
// @tune WARPS_M 2 1 4
// @tune WARPS_N 2 4 1
// @tune CHANNELS 16 32
// @tune BUFFERS 1 2
// @where BM % (16 * WARPS_M) == 0 && TP * TQ % (16 * WARPS_N) == 0 && WARPS_M * WARPS_N >= 2 && WARPS_M * WARPS_N <= 8
// @where BM / WARPS_M * (TP * TQ / WARPS_N) <= 4096 && BM / WARPS_M * (TP * TQ / WARPS_N) >= 512
{{if conv2d}}
// @where ((TP - 1) * stride + R) * ((TQ - 1) * stride + S + 6) * CHANNELS / 1024 <= 3 * WARPS_M * WARPS_N
// @where 2 * BUFFERS * (R * S * BM + ((TP - 1) * stride + R) * ((TQ - 1) * stride + S + 6)) * (CHANNELS + 8) <= 163 * 1024
{{if float16}}
// @scratch ordered float16 [R * S * K * ceil_div(C / groups, CHANNELS) * CHANNELS]
{{else}}
// @scratch ordered bfloat16 [R * S * K * ceil_div(C / groups, CHANNELS) * CHANNELS]
{{end}}
// @launch {{name}}_order<<<ceil_div(R * S * K * ceil_div(C / groups, CHANNELS) * CHANNELS, 256), 256>>>(w, ordered, K, C / groups)
// @launch {{name}}<<<dim3(N * ceil_div(P, TP) * ceil_div(Q, TQ), ceil_div(K / groups, BM) * groups), 32 * WARPS_M * WARPS_N,
//   2 * BUFFERS * (R * S * BM + ((TP - 1) * stride + R) * ((TQ - 1) * stride + S + 6)) * (CHANNELS + 8)>>>(x,
//   ordered, y, N, C, H, W, K)
{{else}}
// @where ((TQ - 1) * stride + R + 6) * CHANNELS / 1024 <= 3 * WARPS_M * WARPS_N
// @where 2 * BUFFERS * (R * BM + ((TQ - 1) * stride + R + 6)) * (CHANNELS + 8) <= 163 * 1024
{{if float16}}
// @scratch ordered float16 [R * K * ceil_div(C / groups, CHANNELS) * CHANNELS]
{{else}}
// @scratch ordered bfloat16 [R * K * ceil_div(C / groups, CHANNELS) * CHANNELS]
{{end}}
// @launch {{name}}_order<<<ceil_div(R * K * ceil_div(C / groups, CHANNELS) * CHANNELS, 256), 256>>>(w, ordered, K, C / groups)
// @launch {{name}}<<<dim3(N * ceil_div(P, TQ), ceil_div(K / groups, BM) * groups), 32 * WARPS_M * WARPS_N,
//   2 * BUFFERS * (R * BM + ((TQ - 1) * stride + R + 6)) * (CHANNELS + 8)>>>(x, ordered, y, N, C, 1, L, K)
{{end}}
{{types}}
{{include parts/filter.cu}}
constexpr int kShift = (4 - kPad % 4) % 4; // columns before the first one needed, so that a patch begins on a boundary of four pixels
constexpr int kHeight = (TP - 1) * kStrideH + kR, kWidth = ((TQ - 1) * kStride + kS + kShift + 3) / 4 * 4; // of the patch
constexpr int kThreads = 32 * WARPS_M * WARPS_N;
constexpr int kRow = CHANNELS + 8; // eight rows, 16 bytes of each, lie in different banks
constexpr int kOctets = CHANNELS / 8;
constexpr int kFetched = (kHeight * kWidth / 4 * kOctets + kThreads - 1) / kThreads; // four pixels x eight channels each, per thread
constexpr int kTilesM = BM / WARPS_M / 16, kTilesN = TP * TQ / WARPS_N / 8;      // products of a warp

struct alignas(16) Octet {
  Element element[8];
};

struct alignas(8) Quad {
  Element element[4];
};

struct alignas(4) Pair {
  Out left, right;
};

// ordered[(r, s)][output channel][input channel, padded to whole steps]
extern "C" __global__ void {{name}}_order(const Element* __restrict__ w, Element* __restrict__ ordered, int K, int in_channels) {
  const int padded = (in_channels + CHANNELS - 1) / CHANNELS * CHANNELS;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kFilter * K * padded) return;
  const int channel = i % padded, out = i / padded % K, place = i / padded / K;
  ordered[i] = channel < in_channels ? w[(static_cast<size_t>(out) * in_channels + channel) * kFilter + place] : static_cast<Element>(0.0f);
}

// Four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(unsigned (&part)[4], const Element* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
{{if float16}}
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
{{else}}
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
{{end}}
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(const Element* __restrict__ x, const Element* __restrict__ ordered,
                                                      Out* __restrict__ y, int N, int C, int H, int W, int K) {
  const int P = (H + 2 * kPadH - kR) / kStrideH + 1, Q = (W + 2 * kPad - kS) / kStride + 1;
  const int in_channels = C / kGroups, out_channels = K / kGroups;
  const int padded = (in_channels + CHANNELS - 1) / CHANNELS * CHANNELS;
  const int tiles_q = (Q + TQ - 1) / TQ, tiles_p = (P + TP - 1) / TP, tiles_m = (out_channels + BM - 1) / BM;
  const int first_q = blockIdx.x % tiles_q * TQ, first_p = blockIdx.x / tiles_q % tiles_p * TP;
  const int sample = blockIdx.x / tiles_q / tiles_p;
  const int group = blockIdx.y / tiles_m, first_out = blockIdx.y % tiles_m * BM;
  const Element* in = x + (static_cast<size_t>(sample) * C + group * in_channels) * H * W;

  extern __shared__ __align__(16) unsigned char memory[];
  Element* weights = reinterpret_cast<Element*>(memory);          // BUFFERS x [kFilter][BM][kRow]
  Element* patches = weights + BUFFERS * kFilter * BM * kRow;     // BUFFERS x [kHeight * kWidth][kRow]

  Quad fetched[kFetched][8];
  const bool aligned = W % 4 == 0; // then four pixels are in the row, or none of them
  const auto fetch_patch = [&](int first_channel) {
#pragma unroll
    for (int i = 0; i < kFetched; i++) {
      const int at = threadIdx.x + i * kThreads, octet = at % kOctets, pixel = at / kOctets * 4;
      const int row = first_p * kStrideH - kPadH + pixel / kWidth, col = first_q * kStride - kPad - kShift + pixel % kWidth;
      const bool inside = pixel < kHeight * kWidth && row >= 0 && row < H;
#pragma unroll
      for (int c = 0; c < 8; c++) {
        const int channel = first_channel + octet * 8 + c;
        const bool exists = inside && channel < in_channels;
        const Element* from = in + (static_cast<long long>(channel) * H + row) * W + col;
        if (aligned && exists && col >= 0 && col < W) {
          fetched[i][c] = *reinterpret_cast<const Quad*>(from);
        } else {
#pragma unroll
          for (int e = 0; e < 4; e++)
            fetched[i][c].element[e] = !aligned && exists && col + e >= 0 && col + e < W ? from[e] : static_cast<Element>(0.0f);
        }
      }
    }
  };
  const auto store_patch = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kFetched; i++) {
      const int at = threadIdx.x + i * kThreads, octet = at % kOctets, pixel = at / kOctets * 4;
      if (pixel >= kHeight * kWidth) continue;
#pragma unroll
      for (int e = 0; e < 4; e++) {
        Octet channels;
#pragma unroll
        for (int c = 0; c < 8; c++) channels.element[c] = fetched[i][c].element[e];
        *reinterpret_cast<Octet*>(patches + (buffer * kHeight * kWidth + pixel + e) * kRow + octet * 8) = channels;
      }
    }
  };
  const auto copy_weights = [&](int buffer, int first_channel) {
    for (int at = threadIdx.x; at < kFilter * BM * kOctets; at += kThreads) {
      const int octet = at % kOctets, out = at / kOctets % BM, place = at / kOctets / BM;
      const bool exists = first_out + out < out_channels;
      const size_t row = static_cast<size_t>(place) * K + group * out_channels + (exists ? first_out + out : 0);
      const Element* from = ordered + row * padded + first_channel + octet * 8;
      Element* to = weights + ((buffer * kFilter + place) * BM + out) * kRow + octet * 8;
      const int bytes = exists ? 16 : 0; // the rest of the 16 is filled with zeros
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(from),
                   "r"(bytes)
                   : "memory");
    }
  };

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp % WARPS_M * (BM / WARPS_M), warp_n = warp / WARPS_M * (TP * TQ / WARPS_N);
  // The row of the patch from which this lane reads pixels, for the first place of the filter.
  int pixel_row[kTilesN / 2];
#pragma unroll
  for (int j = 0; j < kTilesN / 2; j++) {
    const int pixel = warp_n + j * 16 + lane / 16 * 8 + lane % 8;
    pixel_row[j] = pixel / TQ * kStrideH * kWidth + pixel % TQ * kStride + kShift;
  }
  float sum[kTilesM][kTilesN][4] = {};
  fetch_patch(0);
  copy_weights(0, 0);
  int buffer = 0;
  for (int channel = 0; channel < in_channels; channel += CHANNELS) {
    store_patch(buffer);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const bool more = channel + CHANNELS < in_channels;
    if (more) fetch_patch(channel + CHANNELS);
    if (BUFFERS == 2 && more) copy_weights(buffer ^ 1, channel + CHANNELS);
#pragma unroll
    for (int place = 0; place < kFilter; place++)
#pragma unroll
      for (int c = 0; c < CHANNELS; c += 16) {
        unsigned a[kTilesM][4];
#pragma unroll
        for (int i = 0; i < kTilesM; i++)
          load_matrices(a[i], weights + ((buffer * kFilter + place) * BM + warp_m + i * 16 + lane % 16) * kRow + c + lane / 16 * 8);
#pragma unroll
        for (int j = 0; j < kTilesN / 2; j++) {
          unsigned b[4]; // two blocks of eight pixels
          const int row = pixel_row[j] + place / kS * kWidth + place % kS;
          load_matrices(b, patches + (buffer * kHeight * kWidth + row) * kRow + c + lane / 8 % 2 * 8);
#pragma unroll
          for (int i = 0; i < kTilesM; i++) {
            multiply_add(sum[i][2 * j], a[i], b[0], b[1]);
            multiply_add(sum[i][2 * j + 1], a[i], b[2], b[3]);
          }
        }
      }
    if (BUFFERS == 1) {
      __syncthreads(); // all have read the weights
      if (more) copy_weights(0, channel + CHANNELS);
    } else {
      buffer ^= 1;
    }
  }

#pragma unroll
  for (int i = 0; i < kTilesM; i++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int out = first_out + warp_m + i * 16 + lane / 4 + h * 8;
      if (out >= out_channels) continue;
      Out* plane = y + (static_cast<size_t>(sample) * K + group * out_channels + out) * P * Q;
#pragma unroll
      for (int j = 0; j < kTilesN; j++) {
        const int pixel = warp_n + j * 8 + lane % 4 * 2; // and the one to its right
        const int p = first_p + pixel / TQ, q = first_q + pixel % TQ;
        if (p >= P || q >= Q) continue;
        Out* to = plane + static_cast<size_t>(p) * Q + q;
        if (Q % 2 == 0) { // both exist, and the pair is aligned
          *reinterpret_cast<Pair*>(to) = {static_cast<Out>(sum[i][j][2 * h]), static_cast<Out>(sum[i][j][2 * h + 1])};
        } else {
          to[0] = static_cast<Out>(sum[i][j][2 * h]);
          if (q + 1 < Q) to[1] = static_cast<Out>(sum[i][j][2 * h + 1]);
        }
      }
    }
}
