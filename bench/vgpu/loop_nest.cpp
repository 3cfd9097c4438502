#include "loop_nest.h"

namespace bench {

// Rows of b are read in order, so that the compiler can make vectors of the inner loop.
void loop_nest(const float* __restrict a, const float* __restrict b, float* __restrict c, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      c[i * n + j] = 0.0F;
    for (int k = 0; k < n; ++k) {
      const float factor = a[i * n + k];
      for (int j = 0; j < n; ++j)
        c[i * n + j] += factor * b[k * n + j];
    }
  }
}

} // namespace bench
