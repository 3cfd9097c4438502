// One block a row, which is copied asynchronously to shared memory and stays there: read from memory once, with few registers. Every warp
// exponentiates relative to its own maximum, so that one barrier is enough to bring the warps together.
// @tune BLOCK 256 128 512 1024
// @launch {{name}}<<<M, BLOCK, ceil_div(N, {{vector}}) * 16>>>({{arguments}})
{{types}}
constexpr int kVector = {{vector}}; // elements in an access of 16 bytes
constexpr int kWarps = BLOCK / 32;

// Copies a thread's share of a row to shared memory past its registers: accesses of 16 bytes where rows begin at multiples of 16 bytes.
// The thread that copies an element is the one that reads it again, so no barrier is needed, only the end of the copies.
__device__ __forceinline__ void stage_share(Element* staged, const Element* row, int N, bool aligned) {
  if (aligned) {
    for (int at = threadIdx.x * kVector; at < N; at += BLOCK * kVector)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(staged + at))),
                   "l"(row + at)
                   : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  } else {
    for (int at = threadIdx.x; at < N; at += BLOCK) staged[at] = row[at];
  }
}

// Calls take(value) for the elements of a thread's share.
template <class Take>
__device__ __forceinline__ void for_share(const Element* staged, int N, bool aligned, Take take) {
  if (aligned) {
#pragma unroll 4
    for (int at = threadIdx.x * kVector; at < N; at += BLOCK * kVector) {
      const uint4 bits = *reinterpret_cast<const uint4*>(staged + at);
      Element element[kVector];
      memcpy(element, &bits, sizeof element);
#pragma unroll
      for (int j = 0; j < kVector; j++) take(static_cast<Acc>(element[j]));
    }
  } else {
    for (int at = threadIdx.x; at < N; at += BLOCK) take(static_cast<Acc>(staged[at]));
  }
}

// Writes function(value) for the elements of a thread's share.
template <class Function>
__device__ __forceinline__ void write_share(Out* row, const Element* staged, int N, bool aligned, Function function) {
  if (aligned) {
#pragma unroll 4
    for (int at = threadIdx.x * kVector; at < N; at += BLOCK * kVector) {
      uint4 bits = *reinterpret_cast<const uint4*>(staged + at);
      Element element[kVector];
      memcpy(element, &bits, sizeof element);
#pragma unroll
      for (int j = 0; j < kVector; j++) element[j] = static_cast<Out>(function(static_cast<Acc>(element[j])));
      memcpy(&bits, element, sizeof bits);
      *reinterpret_cast<uint4*>(row + at) = bits;
    }
  } else {
    for (int at = threadIdx.x; at < N; at += BLOCK) row[at] = static_cast<Out>(function(static_cast<Acc>(staged[at])));
  }
}

{{include parts/largest_of.cu}}

{{include parts/sum_of.cu}}

extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  extern __shared__ uint4 shared_row[];
  __shared__ Acc part_largest[kWarps], part_sum[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool aligned = N % kVector == 0;
  Element* staged = reinterpret_cast<Element*>(shared_row);
  stage_share(staged, x + static_cast<size_t>(blockIdx.x) * N, N, aligned);

  Acc largest = -static_cast<Acc>(INFINITY), sum = 0;
  for_share(staged, N, aligned, [&](Acc v) { largest = fmax(largest, v); });
  largest = largest_of<32>(largest);
  for_share(staged, N, aligned, [&](Acc v) { sum += exp(v - largest); });
  sum = sum_of<32>(sum);
  if (lane == 0) {
    part_largest[warp] = largest;
    part_sum[warp] = sum;
  }
  __syncthreads();

  // Every warp merges all parts for itself, which needs no second barrier.
  const Acc part = part_largest[lane % kWarps];
  const Acc top = largest_of<kWarps>(part);
  const Acc total = sum_of<kWarps>(part_sum[lane % kWarps] * exp(part - top));
{{if log_softmax}}
  const Acc log_total = log(total);
  write_share(y + static_cast<size_t>(blockIdx.x) * N, staged, N, aligned, [&](Acc v) { return v - top - log_total; });
{{else}}
  const Acc scale = 1 / total;
  write_share(y + static_cast<size_t>(blockIdx.x) * N, staged, N, aligned, [&](Acc v) { return exp(v - top) * scale; });
{{end}}
}
