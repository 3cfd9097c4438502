// A product of matrices whose right one is never stored: BM output channels x BN output pixels a block, TM x TN of them a thread.
// A step of the product takes whole filters of a few channels, so that a thread always gathers from the same places of a filter:
// their offsets and whether they lie in the padding are found once. The next step is on its way in registers while this one is
// computed from one of two buffers.
// @tune BM 64 32 128
// @tune BN 128 64
// @tune TM 8 4
// @tune TN 8 4
// @tune DEPTH 9 18 36
// @where BM / TM * (BN / TN) >= BN && BM / TM * (BN / TN) <= 256
{{if conv2d}}
{{if float64}}
// @where 16 * max(1, DEPTH / (R * S)) * R * S * (BM + 4 + BN) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(N * P * Q, BN), ceil_div(K / groups, BM) * groups), BM / TM * (BN / TN),
//   16 * max(1, DEPTH / (R * S)) * R * S * (BM + 4 + BN)>>>({{arguments}})
{{else}}
// @where 8 * max(1, DEPTH / (R * S)) * R * S * (BM + 4 + BN) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(N * P * Q, BN), ceil_div(K / groups, BM) * groups), BM / TM * (BN / TN),
//   8 * max(1, DEPTH / (R * S)) * R * S * (BM + 4 + BN)>>>({{arguments}})
{{end}}
{{else}}
{{if float64}}
// @where 16 * max(1, DEPTH / R) * R * (BM + 4 + BN) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(N * P, BN), ceil_div(K / groups, BM) * groups), BM / TM * (BN / TN),
//   16 * max(1, DEPTH / R) * R * (BM + 4 + BN)>>>({{arguments}})
{{else}}
// @where 8 * max(1, DEPTH / R) * R * (BM + 4 + BN) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(N * P, BN), ceil_div(K / groups, BM) * groups), BM / TM * (BN / TN),
//   8 * max(1, DEPTH / R) * R * (BM + 4 + BN)>>>({{arguments}})
{{end}}
{{end}}
{{types}}
{{include parts/filter.cu}}
constexpr int kChannels = DEPTH / kFilter > 1 ? DEPTH / kFilter : 1; // of a step
constexpr int kDepth = kChannels * kFilter;
constexpr int kTX = BN / TN;
constexpr int kThreads = BM / TM * kTX;
constexpr int kRowsAtOnce = kThreads / BN;                            // rows of the right matrix that all threads gather together
constexpr int kGathered = (kDepth + kRowsAtOnce - 1) / kRowsAtOnce;   // values of it per thread
constexpr int kWeights = (BM * kDepth + kThreads - 1) / kThreads;     // weights per thread
constexpr int kStrideM = BM + 4; // whole fours, and fewer collisions when weights are stored by column

template <class T> struct alignas(sizeof(T) == 4 ? 16 : 8) Four {
  T v[4];
};

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
{{if !conv2d}}
  const int H = 1, W = L;
{{end}}
  const int P = (H + 2 * kPadH - kR) / kStrideH + 1;
  const int Q = (W + 2 * kPad - kS) / kStride + 1;
  const int image = P * Q;
  const long long pixels = static_cast<long long>(N) * image;
  const int in_channels = C / kGroups, out_channels = K / kGroups;
  const int tiles = (out_channels + BM - 1) / BM;
  const int group = blockIdx.y / tiles;
  const int first_out = blockIdx.y % tiles * BM; // of the group
  const long long first_pixel = static_cast<long long>(blockIdx.x) * BN;

  extern __shared__ __align__(16) unsigned char memory[];
  Acc* weight_tile = reinterpret_cast<Acc*>(memory); // 2 x [kDepth][kStrideM]
  Acc* input_tile = weight_tile + 2 * kDepth * kStrideM; // 2 x [kDepth][BN]

  // This thread's pixel, and where it gathers from in every step.
  const int column = threadIdx.x % BN, first_row = threadIdx.x / BN;
  const long long pixel = first_pixel + column;
  const bool is_pixel = pixel < pixels;
  const int sample = is_pixel ? static_cast<int>(pixel / image) : 0;
  const int place = is_pixel ? static_cast<int>(pixel % image) : 0;
  const int top = place / Q * kStrideH - kPadH, left = place % Q * kStride - kPad;
  const Element* in = x + (static_cast<size_t>(sample) * C + group * in_channels) * H * W;
  int offset[kGathered];
  unsigned long long inside = 0;
#pragma unroll
  for (int i = 0; i < kGathered; i++) {
    const int row = first_row + i * kRowsAtOnce;
    const int r = row % kFilter / kS, s = row % kS;
    const bool ok = is_pixel && row < kDepth && top + r >= 0 && top + r < H && left + s >= 0 && left + s < W;
    offset[i] = (row / kFilter * H + top + r) * W + left + s;
    inside |= static_cast<unsigned long long>(ok) << i;
  }
  const Element* filters = w + (static_cast<size_t>(group) * out_channels + first_out) * in_channels * kFilter;

  Element gathered[kGathered], weight[kWeights];
  const auto fetch = [&](int first_channel) {
    const int left_channels = in_channels - first_channel;
    const Element* from = in + static_cast<size_t>(first_channel) * H * W;
#pragma unroll
    for (int i = 0; i < kGathered; i++) {
      const bool ok = (inside >> i & 1) && (kChannels == 1 || (first_row + i * kRowsAtOnce) / kFilter < left_channels);
      gathered[i] = ok ? from[offset[i]] : static_cast<Element>(0);
    }
#pragma unroll
    for (int i = 0; i < kWeights; i++) {
      const int at = threadIdx.x + i * kThreads, out = at / kDepth, row = at % kDepth;
      const bool ok = at < BM * kDepth && first_out + out < out_channels && row < left_channels * kFilter;
      weight[i] = ok ? filters[(static_cast<size_t>(out) * in_channels + first_channel) * kFilter + row] : static_cast<Element>(0);
    }
  };
  const auto store = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kGathered; i++) {
      const int row = first_row + i * kRowsAtOnce;
      if (row < kDepth) input_tile[(buffer * kDepth + row) * BN + column] = static_cast<Acc>(gathered[i]);
    }
#pragma unroll
    for (int i = 0; i < kWeights; i++) {
      const int at = threadIdx.x + i * kThreads;
      if (at < BM * kDepth) weight_tile[(buffer * kDepth + at % kDepth) * kStrideM + at / kDepth] = static_cast<Acc>(weight[i]);
    }
  };

  const int tx = threadIdx.x % kTX, ty = threadIdx.x / kTX;
  Acc sum[TM][TN] = {};
  fetch(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int channel = 0; channel < in_channels; channel += kChannels, buffer ^= 1) {
    const bool more = channel + kChannels < in_channels;
    if (more) fetch(channel + kChannels);
#pragma unroll
    for (int k = 0; k < kDepth; k++) {
      Four<Acc> a[TM / 4], b[TN / 4];
#pragma unroll
      for (int i = 0; i < TM / 4; i++)
        a[i] = *reinterpret_cast<const Four<Acc>*>(weight_tile + (buffer * kDepth + k) * kStrideM + (i * (BM / TM) + ty) * 4);
#pragma unroll
      for (int j = 0; j < TN / 4; j++)
        b[j] = *reinterpret_cast<const Four<Acc>*>(input_tile + (buffer * kDepth + k) * BN + (j * kTX + tx) * 4);
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) sum[i][j] += a[i / 4].v[i % 4] * b[j / 4].v[j % 4];
    }
    if (more) store(buffer ^ 1);
    __syncthreads();
  }

#pragma unroll
  for (int j = 0; j < TN / 4; j++) {
    const long long first = first_pixel + (j * kTX + tx) * 4;
    if (first >= pixels) continue;
    // Four pixels of one image, on a boundary of four elements: one store.
    const bool together = image % 4 == 0;
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int out = first_out + (i / 4 * (BM / TM) + ty) * 4 + i % 4;
      if (out >= out_channels) continue;
      if (together) {
        Four<Out> four;
#pragma unroll
        for (int e = 0; e < 4; e++) four.v[e] = static_cast<Out>(sum[i][j * 4 + e]);
        const size_t plane = static_cast<size_t>(first / image) * K + group * out_channels + out;
        *reinterpret_cast<Four<Out>*>(y + plane * image + first % image) = four;
      } else {
#pragma unroll
        for (int e = 0; e < 4; e++) {
          const size_t plane = static_cast<size_t>((first + e) / image) * K + group * out_channels + out;
          if (first + e < pixels) y[plane * image + (first + e) % image] = static_cast<Out>(sum[i][j * 4 + e]);
        }
      }
    }
  }
}
