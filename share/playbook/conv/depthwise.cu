// For filters over one channel or a few: a thread computes ROWS x COLS neighbouring outputs of a plane. It reads each input row
// under them once, by vectors that begin on a boundary whatever the padding, and adds it to every output whose filter reaches it.
{{if conv2d}}
{{if float64}}
// @tune ROWS 4 8 2 1
{{else}}
// @tune ROWS 8 4 2 1
{{end}}
{{if half}}
// @tune COLS 8 4
{{else}}
{{if int8}}
// @tune COLS 8 4 16
{{else}}
// @tune COLS 4 8 2
{{end}}
{{end}}
{{else}}
// @tune ROWS 1
{{if int8}}
// @tune COLS 16 8 32
{{else}}
// @tune COLS 8 4 16
{{end}}
{{end}}
// @tune BLOCK 128 64 256
{{if conv2d}}
// @launch {{name}}<<<ceil_div(N * K * ceil_div(P, ROWS) * ceil_div(Q, COLS), BLOCK), BLOCK>>>({{arguments}})
{{else}}
// @launch {{name}}<<<ceil_div(N * K * ceil_div(P, COLS), BLOCK), BLOCK>>>({{arguments}})
{{end}}
{{types}}
{{if conv2d}}
constexpr int kR = {{dim.R}}, kS = {{dim.S}};
constexpr int kStrideH = {{dim.stride}}, kPadH = {{dim.padding}};
{{else}}
constexpr int kR = 1, kS = {{dim.R}}; // a row of pixels
constexpr int kStrideH = 1, kPadH = 0;
{{end}}
constexpr int kStride = {{dim.stride}}, kPad = {{dim.padding}}, kGroups = {{dim.groups}};

constexpr int largest_power(int n, int most) { // of two that divides n
  int power = 1;
  while (power < most && n % (2 * power) == 0) power *= 2;
  return power;
}
constexpr int kOut = largest_power(COLS, 16 / sizeof(Out));    // outputs of one store
constexpr int kIn = largest_power(kStride * COLS, {{vector}}); // inputs of one load
constexpr int kShift = (kIn - kPad % kIn) % kIn;               // inputs before the first one needed, to begin on a boundary
constexpr int kRead = ((COLS - 1) * kStride + kS + kShift + kIn - 1) / kIn;  // loads of a row
constexpr int kHeight = (ROWS - 1) * kStrideH + kR;            // input rows
constexpr int kMost = 384 / (kRead * kIn * static_cast<int>(sizeof(Element))); // rows that registers have room for
constexpr int kAhead = kMost < 1 ? 1 : kMost < kHeight ? kMost : kHeight;      // rows read before the first is used

template <class T, int COUNT> struct alignas(sizeof(T) * COUNT) Vector {
  T v[COUNT];
};

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
{{if !conv2d}}
  const int H = 1, W = L;
{{end}}
  const int P = (H + 2 * kPadH - kR) / kStrideH + 1, Q = (W + 2 * kPad - kS) / kStride + 1;
  const int in_channels = C / kGroups, out_channels = K / kGroups;
  const unsigned across = (Q + COLS - 1) / COLS, per_plane = (P + ROWS - 1) / ROWS * across;
  // One long division a block; the threads need short ones.
  const unsigned long long first = static_cast<unsigned long long>(blockIdx.x) * BLOCK;
  const unsigned rest = static_cast<unsigned>(first % per_plane) + threadIdx.x;
  const unsigned plane = static_cast<unsigned>(first / per_plane) + rest / per_plane; // sample and output channel
  const unsigned sample = plane / K, out = plane % K;
  if (sample >= N) return;
  const int p = rest % per_plane / across * ROWS, q = rest % per_plane % across * COLS;
  const int top = p * kStrideH - kPadH, left = q * kStride - kPad - kShift;
  const bool by_vectors = W % kIn == 0; // then all of a vector is in the row, or nothing

  Acc sum[ROWS][COLS] = {};
  for (int channel = 0; channel < in_channels; channel++) {
    const Element* in = x + (static_cast<size_t>(sample) * C + out / out_channels * in_channels + channel) * H * W;
    const Element* filter = w + (static_cast<size_t>(out) * in_channels + channel) * (kR * kS);
    Acc weight[kR][kS];
#pragma unroll
    for (int r = 0; r < kR; r++)
#pragma unroll
      for (int s = 0; s < kS; s++) weight[r][s] = static_cast<Acc>(filter[r * kS + s]);
#pragma unroll
    for (int begin = 0; begin < kHeight; begin += kAhead) {
      Vector<Element, kIn> part[kAhead][kRead];
#pragma unroll
      for (int a = 0; a < kAhead; a++) {
        const int row = top + begin + a;
        const bool exists = begin + a < kHeight && row >= 0 && row < H;
        const Element* from = in + static_cast<long long>(row) * W + left;
#pragma unroll
        for (int v = 0; v < kRead; v++) {
          const int col = left + v * kIn;
          if (by_vectors && exists && col >= 0 && col < W) {
            part[a][v] = *reinterpret_cast<const Vector<Element, kIn>*>(from + v * kIn);
          } else {
#pragma unroll
            for (int e = 0; e < kIn; e++)
              part[a][v].v[e] = !by_vectors && exists && col + e >= 0 && col + e < W ? from[v * kIn + e] : static_cast<Element>(0);
          }
        }
      }
#pragma unroll
      for (int a = 0; a < kAhead; a++)
#pragma unroll
        for (int o = 0; o < ROWS; o++) {
          const int r = begin + a - o * kStrideH; // of the filter, for this output
          if (r < 0 || r >= kR) continue;
#pragma unroll
          for (int c = 0; c < COLS; c++)
#pragma unroll
            for (int s = 0; s < kS; s++) {
              const int at = c * kStride + s + kShift;
              sum[o][c] += weight[r][s] * static_cast<Acc>(part[a][at / kIn].v[at % kIn]);
            }
        }
    }
  }

  const bool whole = Q % kOut == 0;
#pragma unroll
  for (int o = 0; o < ROWS; o++) {
    if (p + o >= P) break;
    Out* to = y + (static_cast<size_t>(plane) * P + p + o) * Q + q;
#pragma unroll
    for (int c = 0; c < COLS; c += kOut) {
      Vector<Out, kOut> results;
#pragma unroll
      for (int e = 0; e < kOut; e++) results.v[e] = static_cast<Out>(sum[o][c + e]);
      if (whole && q + c < Q) {
        *reinterpret_cast<Vector<Out, kOut>*>(to + c) = results;
      } else {
#pragma unroll
        for (int e = 0; e < kOut; e++)
          if (q + c + e < Q) to[c + e] = results.v[e];
      }
    }
  }
}
