// Both products on the tensor cores. A warp takes 16 x TILES queries and goes once over the keys with a running maximum and sum;
// its queries, scores, weights and outputs stay in registers, since the layout of a product's result is that of the next one's
// left operand. Values arrive while scores are computed, and the next keys while values are added up.
// @tune WARPS 4 2 8
// @tune TILES 1 2
// @tune KEYS 64 32 128
// @where WARPS * TILES <= 8 && TILES * (KEYS + {{dim.D}}) <= 288
// @where 2 * (16 * WARPS * TILES + 2 * KEYS) * (ceil_div({{dim.D}}, 16) * 16 + 8) <= 163 * 1024
// @launch {{name}}<<<dim3(ceil_div(L, 16 * WARPS * TILES), B * H), 32 * WARPS,
//   2 * (16 * WARPS * TILES + 2 * KEYS) * (ceil_div({{dim.D}}, 16) * 16 + 8)>>>({{arguments}})
{{types}}
constexpr int kD = {{dim.D}};
constexpr int kPadded = (kD + 15) / 16 * 16;
constexpr int kStride = kPadded + 8; // eight rows, 16 bytes of each, lie in different banks
constexpr int kRows = 16 * TILES * WARPS;
constexpr int kThreads = 32 * WARPS;
{{if float16}}
constexpr float kShift = 15; // weights are kept 2^15 times too large, so that small ones do not vanish in float16
{{else}}
constexpr float kShift = 0;
{{end}}

struct alignas(16) Vector {
  Element element[8];
};

// Rows first ... first + rows - 1 of a head; zeros where there is none. May still be under way when it returns (see wait).
__device__ __forceinline__ void load_tile(Element* tile, const Element* head, int first, int rows, int L) {
  for (int i = threadIdx.x; i < rows * (kPadded / 8); i += kThreads) {
    const int row = i / (kPadded / 8), col = i % (kPadded / 8) * 8;
    const bool inside = first + row < L;
    const Element* from = head + static_cast<size_t>(first + row) * kD + col;
    Element* to = tile + row * kStride + col;
    if constexpr (kD % 8 == 0) {
      const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
      const int bytes = inside && col < kD ? 16 : 0; // the rest of the 16 is filled with zeros
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(bytes ? from : head), "r"(bytes) : "memory");
    } else {
#pragma unroll
      for (int e = 0; e < 8; e++) to[e] = inside && col + e < kD ? from[e] : static_cast<Element>(0.0f);
    }
  }
}

__device__ __forceinline__ void wait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
}

// Four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(unsigned (&part)[4], const Element* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}

__device__ __forceinline__ void load_transposed(unsigned (&part)[4], const Element* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
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

__device__ __forceinline__ unsigned pack(float low, float high) {
{{if float16}}
  const __half2 both = __floats2half2_rn(low, high);
{{else}}
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
{{end}}
  return *reinterpret_cast<const unsigned*>(&both);
}

extern "C" __global__ void __launch_bounds__(kThreads) {{name}}(
    {{restrict_parameters}}) {
  extern __shared__ __align__(16) unsigned char memory[];
  Element* queries = reinterpret_cast<Element*>(memory); // later the outputs
  Element* keys = queries + kRows * kStride;
  Element* values = keys + KEYS * kStride;
  const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * (16 * TILES);
  const size_t head = static_cast<size_t>(blockIdx.y) * L * kD;
  // With a causal mask the last queries have the most keys: they begin first.
  const int first_row = (gridDim.x - 1 - blockIdx.x) * kRows;
  const int visible = causal ? min(L, first_row + kRows) : L;
  const float scale = 1.44269504f / sqrtf(static_cast<float>(kD)); // exp(x) = exp2(x * log2(e))

  load_tile(queries, q + head, first_row, kRows, L);
  load_tile(keys, k + head, 0, KEYS, L);
  wait();
  unsigned query[TILES][kPadded / 16][4];
#pragma unroll
  for (int t = 0; t < TILES; t++)
#pragma unroll
    for (int d = 0; d < kPadded / 16; d++)
      load_matrices(query[t][d], queries + (warp_row + t * 16 + lane % 16) * kStride + d * 16 + lane / 16 * 8);

  float out[TILES][kPadded / 8][4] = {};
  float largest[TILES][2], sum[TILES][2]; // of rows lane / 4 and lane / 4 + 8
#pragma unroll
  for (int t = 0; t < TILES; t++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      largest[t][h] = -INFINITY;
      sum[t][h] = 0;
    }
  for (int first = 0; first < visible; first += KEYS) {
    if (first > 0) wait(); // for the keys; the values of the last tile are no longer needed
    load_tile(values, v + head, first, KEYS, L);

    float score[TILES][KEYS / 8][4] = {};
#pragma unroll
    for (int d = 0; d < kPadded / 16; d++)
#pragma unroll
      for (int j = 0; j < KEYS / 16; j++) {
        unsigned key[4]; // two blocks of eight keys
        load_matrices(key, keys + (j * 16 + lane / 16 * 8 + lane % 8) * kStride + d * 16 + lane / 8 % 2 * 8);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
          multiply_add(score[t][2 * j], query[t][d], key[0], key[1]);
          multiply_add(score[t][2 * j + 1], query[t][d], key[2], key[3]);
        }
      }

    const bool masked = first + KEYS > L || (causal && first + KEYS > first_row);
#pragma unroll
    for (int t = 0; t < TILES; t++)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int row = first_row + warp_row + t * 16 + lane / 4 + h * 8;
        float top = largest[t][h];
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; e++) {
            const int key = first + j * 8 + lane % 4 * 2 + e % 2;
            score[t][j][e] *= scale;
            if (masked && (key >= L || (causal && key > row))) score[t][j][e] = -INFINITY;
            top = fmaxf(top, score[t][j][e]);
          }
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
        const float shrink = exp2f(largest[t][h] - top); // 0 at the first tile; every query sees key 0, so top is finite
        largest[t][h] = top;
        sum[t][h] *= shrink;
#pragma unroll
        for (int j = 0; j < KEYS / 8; j++)
#pragma unroll
          for (int e = 2 * h; e < 2 * h + 2; e++) {
            score[t][j][e] = exp2f(score[t][j][e] - (top - kShift));
            sum[t][h] += score[t][j][e]; // of this lane's keys; lanes are added up at the end
          }
#pragma unroll
        for (int d = 0; d < kPadded / 8; d++) {
          out[t][d][2 * h] *= shrink;
          out[t][d][2 * h + 1] *= shrink;
        }
      }
    wait(); // for the values; the keys are no longer needed
    if (first + KEYS < visible) load_tile(keys, k + head, first + KEYS, KEYS, L);

#pragma unroll
    for (int j = 0; j < KEYS / 16; j++) {
      unsigned weight[TILES][4];
#pragma unroll
      for (int t = 0; t < TILES; t++) {
        weight[t][0] = pack(score[t][2 * j][0], score[t][2 * j][1]);
        weight[t][1] = pack(score[t][2 * j][2], score[t][2 * j][3]);
        weight[t][2] = pack(score[t][2 * j + 1][0], score[t][2 * j + 1][1]);
        weight[t][3] = pack(score[t][2 * j + 1][2], score[t][2 * j + 1][3]);
      }
#pragma unroll
      for (int d = 0; d < kPadded / 16; d++) {
        unsigned value[4]; // two blocks of eight columns
        load_transposed(value, values + (j * 16 + lane % 16) * kStride + d * 16 + lane / 16 * 8);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
          multiply_add(out[t][2 * d], weight[t], value[0], value[1]);
          multiply_add(out[t][2 * d + 1], weight[t], value[2], value[3]);
        }
      }
    }
  }

  // Through shared memory, for whole rows. A warp writes where it alone read its queries.
#pragma unroll
  for (int t = 0; t < TILES; t++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      sum[t][h] += __shfl_xor_sync(0xffffffffu, sum[t][h], 1);
      sum[t][h] += __shfl_xor_sync(0xffffffffu, sum[t][h], 2);
      const float scale_out = 1 / sum[t][h];
      Element* to = queries + (warp_row + t * 16 + lane / 4 + h * 8) * kStride + lane % 4 * 2;
#pragma unroll
      for (int d = 0; d < kPadded / 8; d++)
        *reinterpret_cast<unsigned*>(to + d * 8) = pack(out[t][d][2 * h] * scale_out, out[t][d][2 * h + 1] * scale_out);
    }
  __syncwarp();
  const int rows = min(16 * TILES, L - first_row - warp_row);
  Out* to = o + head + static_cast<size_t>(first_row + warp_row) * kD;
  if constexpr (kD % 8 == 0) {
    for (int i = lane; i < rows * (kD / 8); i += 32) {
      const int row = i / (kD / 8), col = i % (kD / 8) * 8;
      *reinterpret_cast<Vector*>(to + static_cast<size_t>(row) * kD + col) =
          *reinterpret_cast<const Vector*>(queries + (warp_row + row) * kStride + col);
    }
  } else {
    for (int i = lane; i < rows * kD; i += 32) to[i] = queries[(warp_row + i / kD) * kStride + i % kD];
  }
}
