// 16 columns of B, for two mma.
__device__ __forceinline__ void load_b(Bits (&b)[2][2], const Unit* tile, int col, int k, int lane) {
  Bits r[4];
  if constexpr (kBAlongK) {
    load_matrices(r, tile + place<BK / kVector>(col + lane / 16 * 8 + lane % 8, k / kVector + lane / 8 % 2));
  } else {
{{if int8}}
    load_transposed(r, tile + place<BN / kVector>(k + permuted_line(lane), col / kVector));
    part_bytes(b[0], b[1], r);
    return;
{{else}}
    load_transposed(r, tile + place<BN / kVector>(k + lane / 8 % 2 * 8 + lane % 8, col / kVector + lane / 16));
{{end}}
  }
  b[0][0] = r[0], b[0][1] = r[1], b[1][0] = r[2], b[1][1] = r[3];
}
