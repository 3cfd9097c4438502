// EXTENT rows (or columns) of a matrix by BK of its inner dimension on their way from global memory to shared memory, where the inner
// dimension is always the slow one. ALONG_K: it is the contiguous one in global memory, so the tile is transposed.
template <int EXTENT, bool ALONG_K> struct Transfer {
  static constexpr int kVectors = EXTENT * BK / kVector;
  static constexpr int kLine = ALONG_K ? BK : EXTENT; // contiguous elements of the tile
  Vector held[(kVectors + kThreads - 1) / kThreads];

  __device__ __forceinline__ void fetch(const Element* source, int first, int extent, int k0, int K) {
    const int length = ALONG_K ? K : extent, lines = ALONG_K ? extent : K;
    const bool aligned = length % kVector == 0;
#pragma unroll
    for (int done = 0; done < kVectors; done += kThreads) {
      const int i = done + threadIdx.x, line = i / (kLine / kVector), at = i % (kLine / kVector) * kVector;
      const int y = (ALONG_K ? first : k0) + line, x = (ALONG_K ? k0 : first) + at;
      const Element* from = source + static_cast<long long>(y) * length + x;
      Vector v = {};
      if (kVectors % kThreads == 0 || i < kVectors) {
        if (aligned) {
          if (y < lines && x < length)
            v = *reinterpret_cast<const Vector*>(from);
        } else {
#pragma unroll
          for (int e = 0; e < kVector; e++)
            if (y < lines && x + e < length)
              v.at[e] = from[e];
        }
      }
      held[done / kThreads] = v;
    }
  }

  __device__ __forceinline__ void store(Acc (&tile)[BK][EXTENT + kPad]) const {
#pragma unroll
    for (int done = 0; done < kVectors; done += kThreads) {
      const int i = done + threadIdx.x, line = i / (kLine / kVector), at = i % (kLine / kVector) * kVector;
      if (kVectors % kThreads != 0 && i >= kVectors)
        break;
      const Vector v = held[done / kThreads];
      if constexpr (ALONG_K) {
#pragma unroll
        for (int e = 0; e < kVector; e++)
          tile[at + e][line] = static_cast<Acc>(v.at[e]);
      } else {
#pragma unroll
        for (int e = 0; e < kVector; e += kChunk) {
          Chunk chunk;
#pragma unroll
          for (int c = 0; c < kChunk; c++)
            chunk.at[c] = static_cast<Acc>(v.at[e + c]);
          *reinterpret_cast<Chunk*>(&tile[line][at + e]) = chunk;
        }
      }
    }
  }
};
