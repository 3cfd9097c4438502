#pragma unroll 8
    for (int k = 0; k < BK; k++) {
      Acc a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; i += kChunk)
        *reinterpret_cast<Chunk*>(&a[i]) = *reinterpret_cast<const Chunk*>(&a_tile[k][row_in_tile + i * kWarpRows]);
#pragma unroll
      for (int j = 0; j < TN; j += kChunk)
        *reinterpret_cast<Chunk*>(&b[j]) = *reinterpret_cast<const Chunk*>(&b_tile[k][col_in_tile + j * kWarpColumns]);
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++)
          sum[i][j] += a[i] * b[j];
    }
