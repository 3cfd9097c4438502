// Rows [begin, end) of WIDTH columns a thread, every TY-th row, UNROLL of them in flight.
__device__ __forceinline__ void take_rows(Part (&part)[WIDTH], const Element* in, int begin, int end, int columns, int INNER,
                                          bool aligned) {
#pragma unroll
  for (int j = 0; j < WIDTH; j++) part[j] = nothing();
  for (int first = begin + threadIdx.y; first < end; first += TY * UNROLL) {
    if (aligned) {
      const int column = column_of(0, true);
      Access bits[UNROLL];
#pragma unroll
      for (int u = 0; u < UNROLL; u++) {
        const int r = first + u * TY;
        if (r < end && column < columns) bits[u] = *reinterpret_cast<const Access*>(in + static_cast<size_t>(r) * INNER + column);
      }
#pragma unroll
      for (int u = 0; u < UNROLL; u++)
        if (first + u * TY < end && column < columns) {
          Element element[WIDTH];
          memcpy(element, &bits[u], sizeof element);
#pragma unroll
          for (int j = 0; j < WIDTH; j++) take(part[j], static_cast<Acc>(element[j]), first + u * TY);
        }
    } else {
#pragma unroll
      for (int j = 0; j < WIDTH; j++)
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
          const int r = first + u * TY;
          if (r < end && column_of(j, false) < columns)
            take(part[j], static_cast<Acc>(in[static_cast<size_t>(r) * INNER + column_of(j, false)]), r);
        }
    }
  }
}
