// The convolution as it is written: BM output channels x (TP x TQ) output pixels a block, TM channels x TN pixels of a row a thread.
// A step takes CHANNELS input channels: the patch of input under the tile, with what the filter reaches beyond it, and the weights.
// A thread holds a row of its patch in registers for all places of a filter row, so that shared memory is asked less often than by
// a product of matrices. The next step is on its way in registers while this one is computed from one of two buffers.
{{if conv2d}}
// @tune BM 64 32 128 16
// @tune TP 8 4 6 16
// @tune TQ 8 16 32
// @tune CHANNELS 1 2 4
// @tune TM 4 8
{{else}}
// @tune BM 64 32 128 16
// @tune TP 1
// @tune TQ 128 64 256
// @tune CHANNELS 2 1 4
{{if float64}}
// @tune TM 4 8
{{else}}
// @tune TM 8 4
{{end}}
{{end}}
// @tune TN 8 4
// @where TQ % TN == 0 && BM / TM * TP * (TQ / TN) >= 64 && BM / TM * TP * (TQ / TN) <= 512
{{if conv2d}}
{{if float64}}
// @where 16 * CHANNELS * (R * S * (BM + 4) + ((TP - 1) * stride + R) * ((TQ - 1) * stride + S + 3)) <= 163 * 1024
// @launch {{name}}<<<dim3(N * ceil_div(P, TP) * ceil_div(Q, TQ), ceil_div(K / groups, BM) * groups), BM / TM * TP * (TQ / TN),
//   16 * CHANNELS * (R * S * (BM + 4) + ((TP - 1) * stride + R) * ((TQ - TN) * stride
//   + ceil_div((TN - 1) * stride + S, 4) * 4))>>>({{arguments}})
{{else}}
// @where 8 * CHANNELS * (R * S * (BM + 4) + ((TP - 1) * stride + R) * ((TQ - 1) * stride + S + 3)) <= 163 * 1024
// @launch {{name}}<<<dim3(N * ceil_div(P, TP) * ceil_div(Q, TQ), ceil_div(K / groups, BM) * groups), BM / TM * TP * (TQ / TN),
//   8 * CHANNELS * (R * S * (BM + 4) + ((TP - 1) * stride + R) * ((TQ - TN) * stride
//   + ceil_div((TN - 1) * stride + S, 4) * 4))>>>({{arguments}})
{{end}}
{{else}}
{{if float64}}
// @where 16 * CHANNELS * (R * (BM + 4) + (TQ - 1) * stride + R + 3) <= 163 * 1024
// @launch {{name}}<<<dim3(N * ceil_div(P, TQ), ceil_div(K / groups, BM) * groups), BM / TM * (TQ / TN),
//   16 * CHANNELS * (R * (BM + 4) + (TQ - TN) * stride + ceil_div((TN - 1) * stride + R, 4) * 4)>>>({{arguments}})
{{else}}
// @where 8 * CHANNELS * (R * (BM + 4) + (TQ - 1) * stride + R + 3) <= 163 * 1024
// @launch {{name}}<<<dim3(N * ceil_div(P, TQ), ceil_div(K / groups, BM) * groups), BM / TM * (TQ / TN),
//   8 * CHANNELS * (R * (BM + 4) + (TQ - TN) * stride + ceil_div((TN - 1) * stride + R, 4) * 4)>>>({{arguments}})
{{end}}
{{end}}
{{types}}
{{include parts/filter.cu}}
constexpr int kRead = ((TN - 1) * kStride + kS + 3) / 4 * 4;                         // input pixels of a thread's row, whole fours
constexpr int kHeight = (TP - 1) * kStrideH + kR, kWidth = (TQ - TN) * kStride + kRead; // of the patch
constexpr int kPatch = CHANNELS * kHeight * kWidth;
constexpr int kTY = BM / TM, kTX = TQ / TN;
constexpr int kThreads = kTY * kTX * TP;
constexpr int kPixels = (kPatch + kThreads - 1) / kThreads;                            // of a patch, per thread
constexpr int kWeights = (BM * CHANNELS * kFilter + kThreads - 1) / kThreads;          // per thread
constexpr int kStrideM = BM + 4; // whole fours, and fewer collisions when weights are stored by column
constexpr int kBuffer = CHANNELS * kFilter * kStrideM + kPatch;
// Registers a thread can do with, and the blocks for which there are enough of them; the compiler alone would take more.
constexpr int kRegisters = 40 + TM * TN * static_cast<int>(sizeof(Acc)) / 4 + 2 * (kWeights + kPixels);
constexpr int kBlocks = 65536 / (kThreads * (kRegisters < 255 ? kRegisters : 255));
constexpr int kRowsUnrolled = kFilter <= 25 ? kR : 1;

template <class T> struct alignas(sizeof(T) == 2 ? 8 : 16) Four {
  T v[4];
};

template <class T> struct alignas(2 * sizeof(T)) Two {
  T v[2];
};

extern "C" __global__ void __launch_bounds__(kThreads, kBlocks < 1 ? 1 : kBlocks) {{name}}(
    {{restrict_parameters}}) {
{{if !conv2d}}
  const int H = 1, W = L;
{{end}}
  const int P = (H + 2 * kPadH - kR) / kStrideH + 1, Q = (W + 2 * kPad - kS) / kStride + 1;
  const int in_channels = C / kGroups, out_channels = K / kGroups;
  const int tiles_q = (Q + TQ - 1) / TQ, tiles_p = (P + TP - 1) / TP, tiles_m = (out_channels + BM - 1) / BM;
  const int first_q = blockIdx.x % tiles_q * TQ, first_p = blockIdx.x / tiles_q % tiles_p * TP;
  const int sample = blockIdx.x / tiles_q / tiles_p;
  const int group = blockIdx.y / tiles_m, first_out = blockIdx.y % tiles_m * BM; // of the group

  extern __shared__ __align__(16) unsigned char memory[];
  Acc* shared = reinterpret_cast<Acc*>(memory); // 2 x ([CHANNELS][kFilter][kStrideM] weights, [CHANNELS][kHeight][kWidth] pixels)

  // Where this thread fetches from in every step, and whether there is anything.
  const Element* in = x + (static_cast<size_t>(sample) * C + group * in_channels) * H * W;
  const Element* filters = w + (static_cast<size_t>(group) * out_channels + first_out) * in_channels * kFilter;
  int pixel_offset[kPixels], weight_offset[kWeights];
#pragma unroll
  for (int i = 0; i < kPixels; i++) {
    const int at = threadIdx.x + i * kThreads;
    const int row = first_p * kStrideH - kPadH + at / kWidth % kHeight, col = first_q * kStride - kPad + at % kWidth;
    const bool inside = at < kPatch && row >= 0 && row < H && col >= 0 && col < W;
    pixel_offset[i] = inside ? (at / (kWidth * kHeight) * H + row) * W + col : -1;
  }
#pragma unroll
  for (int i = 0; i < kWeights; i++) {
    const int at = threadIdx.x + i * kThreads, out = at / (CHANNELS * kFilter);
    const bool exists = at < BM * CHANNELS * kFilter && first_out + out < out_channels;
    weight_offset[i] = exists ? out * in_channels * kFilter + at % (CHANNELS * kFilter) : -1;
  }

  Element pixel[kPixels], weight[kWeights];
  const auto fetch = [&](int first_channel) {
    const int left_channels = in_channels - first_channel;
    const Element* from = in + static_cast<size_t>(first_channel) * H * W;
#pragma unroll
    for (int i = 0; i < kPixels; i++) {
      const bool ok = pixel_offset[i] >= 0 && (CHANNELS == 1 || (threadIdx.x + i * kThreads) / (kWidth * kHeight) < left_channels);
      pixel[i] = ok ? from[pixel_offset[i]] : static_cast<Element>(0);
    }
    const Element* filter = filters + static_cast<size_t>(first_channel) * kFilter;
#pragma unroll
    for (int i = 0; i < kWeights; i++) {
      const int place = (threadIdx.x + i * kThreads) % (CHANNELS * kFilter);
      const bool ok = weight_offset[i] >= 0 && (CHANNELS == 1 || place < left_channels * kFilter);
      weight[i] = ok ? filter[weight_offset[i]] : static_cast<Element>(0);
    }
  };
  const auto store = [&](Acc* buffer) {
#pragma unroll
    for (int i = 0; i < kWeights; i++) {
      const int at = threadIdx.x + i * kThreads;
      if (at < BM * CHANNELS * kFilter)
        buffer[at % (CHANNELS * kFilter) * kStrideM + at / (CHANNELS * kFilter)] = static_cast<Acc>(weight[i]);
    }
#pragma unroll
    for (int i = 0; i < kPixels; i++) {
      const int at = threadIdx.x + i * kThreads;
      if (at < kPatch) buffer[CHANNELS * kFilter * kStrideM + at] = static_cast<Acc>(pixel[i]);
    }
  };

  const int ty = threadIdx.x % kTY, tx = threadIdx.x / kTY % kTX, tp = threadIdx.x / kTY / kTX;
  Acc sum[TM][TN] = {};
  fetch(0);
  store(shared);
  __syncthreads();
  int buffer = 0;
  for (int channel = 0; channel < in_channels; channel += CHANNELS, buffer ^= 1) {
    const bool more = channel + CHANNELS < in_channels;
    if (more) fetch(channel + CHANNELS);
    const Acc* weights = shared + buffer * kBuffer + ty * 4;
    const Acc* rows = shared + buffer * kBuffer + CHANNELS * kFilter * kStrideM + tp * kStrideH * kWidth + tx * TN * kStride;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
#pragma unroll kRowsUnrolled
      for (int r = 0; r < kR; r++) {
        Four<Acc> row[kRead / 4];
#pragma unroll
        for (int j = 0; j < kRead / 4; j++) row[j] = *reinterpret_cast<const Four<Acc>*>(rows + (c * kHeight + r) * kWidth + j * 4);
#pragma unroll
        for (int s = 0; s < kS; s++) {
          Four<Acc> a[TM / 4];
#pragma unroll
          for (int i = 0; i < TM / 4; i++)
            a[i] = *reinterpret_cast<const Four<Acc>*>(weights + (c * kFilter + r * kS + s) * kStrideM + i * kTY * 4);
#pragma unroll
          for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) sum[i][j] += a[i / 4].v[i % 4] * row[(j * kStride + s) / 4].v[(j * kStride + s) % 4];
        }
      }
    if (more) store(shared + (buffer ^ 1) * kBuffer);
    __syncthreads();
  }

  const int p = first_p + tp, q = first_q + tx * TN;
  if (p >= P || q >= Q) return;
#pragma unroll
  for (int i = 0; i < TM; i++) {
    const int out = first_out + (i / 4 * kTY + ty) * 4 + i % 4;
    if (out >= out_channels) continue;
    Out* to = y + ((static_cast<size_t>(sample) * K + group * out_channels + out) * P + p) * Q + q;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      if (Q % 4 == 0) { // rows begin on boundaries of four, and four pixels exist or none
        if (q + j < Q)
          *reinterpret_cast<Four<Out>*>(to + j) = {static_cast<Out>(sum[i][j]), static_cast<Out>(sum[i][j + 1]),
                                                   static_cast<Out>(sum[i][j + 2]), static_cast<Out>(sum[i][j + 3])};
      } else {
#pragma unroll
        for (int e = j; e < j + 4; e += 2) {
          if (Q % 2 == 0) {
            if (q + e < Q) *reinterpret_cast<Two<Out>*>(to + e) = {static_cast<Out>(sum[i][e]), static_cast<Out>(sum[i][e + 1])};
          } else {
            if (q + e < Q) to[e] = static_cast<Out>(sum[i][e]);
            if (q + e + 1 < Q) to[e + 1] = static_cast<Out>(sum[i][e + 1]);
          }
        }
      }
    }
  }
}
