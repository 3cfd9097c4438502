  for (int t = 0; t < STAGES - 1; t++)
    fetch(t);
  Acc sum[WM / 16][WN / 8][4] = {};
  for (int t = 0; t < tiles; t++) {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); // this stage is there for all, and the one before is no longer read
    fetch(t + STAGES - 1);
    const Unit* a_tile = stages + t % STAGES * kStage;
    const Unit* b_tile = a_tile + kATile;
#pragma unroll
    for (int k = 0; k < BK; k += kStep) {
      Bits a[WM / 16][4], b[WN / 8][2];
#pragma unroll
      for (int i = 0; i < WM / 16; i++)
        load_a(a[i], a_tile, warp_row + i * 16, k, lane);
#pragma unroll
      for (int j = 0; j < WN / 8; j += 2)
        load_b(reinterpret_cast<Bits(&)[2][2]>(b[j]), b_tile, warp_col + j * 8, k, lane);
#pragma unroll
      for (int i = 0; i < WM / 16; i++)
#pragma unroll
        for (int j = 0; j < WN / 8; j++)
          multiply(sum[i][j], a[i], b[j]);
    }
  }
