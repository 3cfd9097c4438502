#pragma unroll
  for (int i = 0; i < TM; i++)
#pragma unroll
    for (int j = 0; j < TN; j += kChunk) {
      const int row = row0 + row_in_tile + i / kChunk * kChunk * kWarpRows + i % kChunk;
      const int col = col0 + col_in_tile + j * kWarpColumns;
      if (row >= M || col >= N)
        continue;
      Pack<Out, kChunk> out;
#pragma unroll
      for (int c = 0; c < kChunk; c++) {
{{if bias}}
        const Acc v = sum[i][j + c] + (col + c < N ? static_cast<Acc>(bias[col + c]) : static_cast<Acc>(0));
        out.at[c] = static_cast<Out>({{expression}});
{{else}}
        out.at[c] = static_cast<Out>(sum[i][j + c]);
{{end}}
      }
      Out* to = C + static_cast<long long>(row) * N + col;
      if (N % kChunk == 0) {
        *reinterpret_cast<Pack<Out, kChunk>*>(to) = out;
      } else {
#pragma unroll
        for (int c = 0; c < kChunk; c++)
          if (col + c < N)
            to[c] = out.at[c];
      }
    }
