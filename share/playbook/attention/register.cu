// A block takes ROWS queries of a head and goes once over the keys, tile by tile, with a running maximum and sum per query:
// scores never leave the chip. A thread computes TM x (KEYS / TX) scores and TM x (D / TX) outputs in registers. Values arrive
// while scores are computed, and the next keys while values are added up.
// @tune ROWS 32 64 128
// @tune KEYS 32 64
// @tune TM 4 8 2
// @tune TX 8 16
// @where ROWS / TM * TX % 32 == 0 && ROWS / TM * TX <= 256 && ROWS / TM * TX >= 64
{{if float64}}
// @where 8 * ((ROWS + 2 * KEYS) * (ceil_div({{dim.D}}, 4 * TX) * 4 * TX + 4) + ROWS * (KEYS + 8)) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(L, ROWS), B * H), ROWS / TM * TX,
//   8 * ((ROWS + 2 * KEYS) * (ceil_div({{dim.D}}, 4 * TX) * 4 * TX + 4) + ROWS * (KEYS + 8))>>>({{arguments}})
{{else}}
// @where 4 * ((ROWS + 2 * KEYS) * (ceil_div({{dim.D}}, 4 * TX) * 4 * TX + 4) + ROWS * (KEYS + 8)) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(L, ROWS), B * H), ROWS / TM * TX,
//   4 * ((ROWS + 2 * KEYS) * (ceil_div({{dim.D}}, 4 * TX) * 4 * TX + 4) + ROWS * (KEYS + 8))>>>({{arguments}})
{{end}}
{{types}}
constexpr int kD = {{dim.D}};
constexpr int kTY = ROWS / TM;                                 // threads along the queries
constexpr int kThreads = kTY * TX;
constexpr int kTN = KEYS / TX;                                 // scores of a thread per query
constexpr int kPadded = (kD + 4 * TX - 1) / (4 * TX) * 4 * TX; // columns, so that every thread has whole fours
constexpr int kGroups = kPadded / (4 * TX);
constexpr int kStride = kPadded + 4; // rows read by neighbouring lanes begin in different banks
constexpr int kScoreStride = KEYS + 8;

struct alignas(sizeof(Acc) == 4 ? 16 : 8) Four {
  Acc v[4];
};

__device__ __forceinline__ Four load_four(const Acc* from) { return *reinterpret_cast<const Four*>(from); }

// Rows first ... first + rows - 1 of a head; zeros where there is none. May still be under way when it returns (see wait).
__device__ __forceinline__ void load_tile(Acc* tile, const Element* head, int first, int rows, int L) {
  for (int i = threadIdx.x; i < rows * (kPadded / 4); i += kThreads) {
    const int row = i / (kPadded / 4), col = i % (kPadded / 4) * 4;
    const bool inside = first + row < L;
    const Element* from = head + static_cast<size_t>(first + row) * kD + col;
    Acc* to = tile + row * kStride + col;
{{if float32}}
#if __CUDA_ARCH__ >= 800
    if constexpr (kD % 4 == 0) {
      const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
      const int bytes = inside && col < kD ? 16 : 0; // the rest of the 16 is filled with zeros
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(bytes ? from : head), "r"(bytes) : "memory");
      continue;
    }
#endif
{{end}}
#pragma unroll
    for (int e = 0; e < 4; e++) to[e] = inside && col + e < kD ? static_cast<Acc>(from[e]) : static_cast<Acc>(0);
  }
}

__device__ __forceinline__ void wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  extern __shared__ __align__(16) unsigned char memory[];
  Acc* queries = reinterpret_cast<Acc*>(memory);
  Acc* keys = queries + ROWS * kStride;
  Acc* values = keys + KEYS * kStride;
  Acc* weights = values + KEYS * kStride; // each row is written and read by one warp only
  const int tx = threadIdx.x % TX, ty = threadIdx.x / TX;
  const size_t head = static_cast<size_t>(blockIdx.y) * L * kD;
  // With a causal mask the last queries have the most keys: they begin first.
  const int first_row = (gridDim.x - 1 - blockIdx.x) * ROWS;
  const int visible = causal ? min(L, first_row + ROWS) : L;
  const Acc scale = static_cast<Acc>(1.4426950408889634) / sqrt(static_cast<Acc>(kD)); // exp(x) = exp2(x * log2(e))

  load_tile(queries, q + head, first_row, ROWS, L);
  load_tile(keys, k + head, 0, KEYS, L);
  Acc out[TM][kGroups][4] = {};
  Acc largest[TM], sum[TM];
#pragma unroll
  for (int i = 0; i < TM; i++) {
    largest[i] = -static_cast<Acc>(INFINITY);
    sum[i] = 0;
  }
  for (int first = 0; first < visible; first += KEYS) {
    wait(); // for the keys; the values of the last tile are no longer needed
    load_tile(values, v + head, first, KEYS, L);

    Acc score[TM][kTN] = {};
#pragma unroll 2
    for (int d = 0; d < (kD + 3) / 4 * 4; d += 4) {
      Four key[kTN];
#pragma unroll
      for (int j = 0; j < kTN; j++) key[j] = load_four(keys + (tx + TX * j) * kStride + d);
#pragma unroll
      for (int i = 0; i < TM; i++) {
        const Four query = load_four(queries + (ty + kTY * i) * kStride + d);
#pragma unroll
        for (int j = 0; j < kTN; j++)
#pragma unroll
          for (int e = 0; e < 4; e++) score[i][j] += query.v[e] * key[j].v[e];
      }
    }

    const bool masked = first + KEYS > L || (causal && first + KEYS > first_row);
#pragma unroll
    for (int i = 0; i < TM; i++) {
      const int row = first_row + ty + kTY * i;
      Acc top = largest[i];
#pragma unroll
      for (int j = 0; j < kTN; j++) {
        const int key = first + tx + TX * j;
        score[i][j] *= scale;
        if (masked && (key >= L || (causal && key > row))) score[i][j] = -static_cast<Acc>(INFINITY);
        top = fmax(top, score[i][j]);
      }
#pragma unroll
      for (int offset = TX / 2; offset > 0; offset /= 2) top = fmax(top, __shfl_xor_sync(0xffffffffu, top, offset));
      const Acc shrink = exp2(largest[i] - top); // 0 at the first tile; every query sees key 0, so top is finite
      largest[i] = top;
      sum[i] *= shrink;
#pragma unroll
      for (int j = 0; j < kTN; j++) {
        const Acc weight = exp2(score[i][j] - top);
        sum[i] += weight; // of this thread's keys; threads are added up at the end
        weights[(ty + kTY * i) * kScoreStride + tx + TX * j] = weight;
      }
#pragma unroll
      for (int g = 0; g < kGroups; g++)
#pragma unroll
        for (int e = 0; e < 4; e++) out[i][g][e] *= shrink;
    }
    wait(); // for the values; the keys are no longer needed
    if (first + KEYS < visible) load_tile(keys, k + head, first + KEYS, KEYS, L);

#pragma unroll 2
    for (int j = 0; j < KEYS; j += 4) {
      Four weight[TM];
#pragma unroll
      for (int i = 0; i < TM; i++) weight[i] = load_four(weights + (ty + kTY * i) * kScoreStride + j);
#pragma unroll
      for (int e = 0; e < 4; e++)
#pragma unroll
        for (int g = 0; g < kGroups; g++) {
          const Four value = load_four(values + (j + e) * kStride + (g * TX + tx) * 4);
#pragma unroll
          for (int i = 0; i < TM; i++)
#pragma unroll
            for (int c = 0; c < 4; c++) out[i][g][c] += weight[i].v[e] * value.v[c];
        }
    }
  }
#pragma unroll
  for (int i = 0; i < TM; i++) {
    for (int offset = TX / 2; offset > 0; offset /= 2) sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], offset);
    const Acc scale_out = 1 / sum[i];
    const int row = first_row + ty + kTY * i;
    if (row >= L) continue;
    Out* to = o + head + static_cast<size_t>(row) * kD;
#pragma unroll
    for (int g = 0; g < kGroups; g++) {
      const int col = (g * TX + tx) * 4;
{{if float32}}
      if constexpr (kD % 4 == 0) { // one store of 16 bytes
        Four result;
#pragma unroll
        for (int c = 0; c < 4; c++) result.v[c] = out[i][g][c] * scale_out;
        if (col < kD) *reinterpret_cast<Four*>(to + col) = result;
        continue;
      }
{{end}}
#pragma unroll
      for (int c = 0; c < 4; c++)
        if (col + c < kD) to[col + c] = static_cast<Out>(out[i][g][c] * scale_out);
    }
  }
}
