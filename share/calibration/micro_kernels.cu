// Kernels that keep one part of a GPU busy and nothing else. 'kernevo calibrate' runs each at
// three sizes: what grows with the size is the part's own, what does not is the launch.
// `n` is the size throughout. Sums that nobody reads go to `sink` under a condition that never holds.

using u32 = unsigned int;
using u64 = unsigned long long;

extern "C" __global__ void empty_kernel() {}

// --- arithmetic: each thread has `kChains` chains of operations that depend on each other

constexpr int kChains = 8;
constexpr int kRounds = 16; // of all chains in one turn of the loop

#define THROUGHPUT(NAME, TYPE, FIRST, STEP)                                                        \
  extern "C" __global__ void NAME(float* sink, int n, float a, float b) {                          \
    TYPE x[kChains];                                                                               \
    _Pragma("unroll") for (int k = 0; k < kChains; ++k) x[k] = FIRST;                              \
    for (int i = 0; i < n; ++i)                                                                    \
      _Pragma("unroll") for (int r = 0; r < kRounds; ++r)                                          \
        _Pragma("unroll") for (int k = 0; k < kChains; ++k) STEP;                                  \
    TYPE all = x[0];                                                                               \
    _Pragma("unroll") for (int k = 1; k < kChains; ++k) all = x[k] + all;                          \
    if (all == (TYPE)-77) sink[0] = a;                                                             \
  }

THROUGHPUT(fp32_throughput, float, (float)(threadIdx.x + k), x[k] = fmaf(x[k], a, b))
THROUGHPUT(fp64_throughput, double, (double)(threadIdx.x + k), x[k] = fma(x[k], (double)a, (double)b))
THROUGHPUT(int32_throughput, int, (int)(threadIdx.x + k), x[k] = x[k] * __float_as_int(a) + __float_as_int(b))
// The exponential and nothing beside it.
THROUGHPUT(special_throughput, float, (float)(threadIdx.x + k) * 0.001f, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[k])))
// Pairs of halves.
THROUGHPUT(fp16_throughput, u32, threadIdx.x + k, asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x[k]) : "r"(__float_as_uint(a)), "r"(__float_as_uint(b))))

// One chain: each operation waits for the one before it.
extern "C" __global__ void fp32_chain(float* sink, int n, float a, float b) {
  float x = threadIdx.x;
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int k = 0; k < 512; ++k) x = fmaf(x, a, b);
  if (x == -77.0f) sink[0] = x;
}

// --- tensor cores: four accumulators of one warp, products of m16 n8 and what k the type has

#define TENSOR(NAME, ACC, LETTER, FIRST, COUNT, INSTRUCTION)                                       \
  extern "C" __global__ void NAME(float* sink, int n, float a, float b) {                          \
    ACC d[4][4];                                                                                   \
    _Pragma("unroll") for (int k = 0; k < 4; ++k) _Pragma("unroll") for (int j = 0; j < 4; ++j)    \
        d[k][j] = FIRST;                                                                           \
    const u32 p = __float_as_uint(a);                                                              \
    const u32 q = __float_as_uint(b);                                                              \
    for (int i = 0; i < n; ++i)                                                                    \
      _Pragma("unroll") for (int r = 0; r < 4; ++r)                                                \
        _Pragma("unroll") for (int k = 0; k < 4; ++k)                                              \
          asm volatile(INSTRUCTION : "+" LETTER(d[k][0]), "+" LETTER(d[k][1]),                     \
                       "+" LETTER(d[k][2]), "+" LETTER(d[k][3]) : "r"(p), "r"(q));                 \
    ACC all = d[0][0];                                                                             \
    _Pragma("unroll") for (int k = 0; k < 4; ++k) _Pragma("unroll") for (int j = 0; j < 4; ++j)    \
        all += d[k][j];                                                                            \
    if (all == (ACC)-77) sink[0] = a;                                                              \
  }

#if __CUDA_ARCH__ >= 800
TENSOR(tensor_fp16, float, "f", (float)threadIdx.x, 4,
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};")
TENSOR(tensor_tf32, float, "f", (float)threadIdx.x, 4,
       "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};")
TENSOR(tensor_int8, int, "r", (int)threadIdx.x, 4,
       "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};")

extern "C" __global__ void tensor_fp64(float* sink, int n, float a, float b) {
  double d[4][2];
  const double p = a;
  const double q = b;
#pragma unroll
  for (int k = 0; k < 4; ++k) d[k][0] = d[k][1] = threadIdx.x;
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int k = 0; k < 4; ++k)
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+d"(d[k][0]), "+d"(d[k][1]) : "d"(p), "d"(q));
  double all = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) all += d[k][0] + d[k][1];
  if (all == -77.0) sink[0] = a;
}
#elif __CUDA_ARCH__ >= 750
TENSOR(tensor_fp16, float, "f", (float)threadIdx.x, 4,
       "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%4}, {%0,%1,%2,%3};")
#endif

// --- memory: n times 16 bytes, by the whole grid

extern "C" __global__ void dram_read(const float4* from, float* sink, long long n) {
  float sum = 0;
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * step) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = i + k * step < n ? from[i + k * step] : float4{};
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  if (sum == -77.0f) sink[0] = sum;
}
extern "C" __global__ void dram_write(float4* to, float value, long long n) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    to[i] = float4{value, value, value, value};
}
extern "C" __global__ void dram_copy(const float4* from, float4* to, long long n) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * step) {
    float4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k * step < n) v[k] = from[i + k * step];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k * step < n) to[i + k * step] = v[k];
  }
}

// The same `chunks` times 16 bytes n times over, past L1; each block begins elsewhere.
extern "C" __global__ void l2_read(const float4* from, float* sink, int n, int chunks) {
  float sum = 0;
  int at = (int)((blockIdx.x * (blockDim.x * 8 + 32) + threadIdx.x) % chunks);
  for (int i = 0; i < n; ++i) {
    float4 v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v[k].x), "=f"(v[k].y), "=f"(v[k].z), "=f"(v[k].w) : "l"(from + at));
      at += blockDim.x;
      at = at >= chunks ? at - chunks : at;
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  if (sum == -77.0f) sink[0] = sum;
}

// Each 16 bytes say where the next are, so that no load can be left out.
extern "C" __global__ void shared_read(float* sink, int n) {
  __shared__ uint4 data[1024];
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) {
    const u32 next = (u32)__cvta_generic_to_shared(data + (i + blockDim.x) % 1024);
    data[i] = uint4{next, i, i, i};
  }
  __syncthreads();
  u32 at = (u32)__cvta_generic_to_shared(data + threadIdx.x);
  u32 sum = 0;
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      uint4 v;
      asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
      at = v.x;
      sum += v.y ^ v.z ^ v.w;
    }
  if (at + sum == 77) sink[0] = 1;
}

// Each thread at an address of its own.
extern "C" __global__ void atomic_add(u32* counters, int n) {
  u32* own = counters + blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int k = 0; k < 4; ++k) atomicAdd(own, threadIdx.x + k);
}

// --- latency: one thread follows a chain of pointers through `lines` lines (a power of two)

__device__ u64 next_line(u32 line, u32 lines) { // a walk that meets every line once
  return (line * 5u + 12345u * 2u + 1u) & (lines - 1);
}

extern "C" __global__ void make_chain(char* memory, u32 lines, u32 stride) {
  const u32 step = gridDim.x * blockDim.x;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += step)
    *(u64*)(memory + (u64)i * stride) = (u64)(memory + next_line(i, lines) * stride);
}

#define CHASE(NAME, LOAD)                                                                          \
  extern "C" __global__ void NAME(char* memory, float* sink, int n) {                              \
    u64 at = (u64)memory;                                                                          \
    for (int i = 0; i < n; ++i)                                                                    \
      _Pragma("unroll") for (int k = 0; k < 16; ++k)                                               \
        asm volatile(LOAD " %0, [%0];" : "+l"(at));                                                \
    if (at == 77) sink[0] = 1;                                                                     \
  }
CHASE(chase_l1, "ld.global.u64")
CHASE(chase_far, "ld.global.cg.u64")

extern "C" __global__ void chase_shared(float* sink, int n) {
  __shared__ u32 chain[256];
  for (u32 i = threadIdx.x; i < 256; i += blockDim.x)
    chain[i] = (u32)__cvta_generic_to_shared(chain + next_line(i, 256));
  __syncthreads();
  if (threadIdx.x != 0) return;
  u32 at = chain[0];
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int k = 0; k < 16; ++k) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  if (at == 77) sink[0] = 1;
}
