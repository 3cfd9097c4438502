{{if int8}}
// ldmatrix transposes pairs of bytes. With lines 4t, 4t + 1 in one matrix and 4t + 2, 4t + 3 in the next, a thread gets the four bytes
// of the inner dimension it needs, for two neighbouring rows (columns) at once; two permutations part them.
__device__ __forceinline__ int permuted_line(int lane) {
  return lane % 8 / 2 * 4 + lane % 2 + lane / 8 % 2 * 2 + lane / 16 * 16;
}

__device__ __forceinline__ void part_bytes(Bits (&even)[2], Bits (&odd)[2], const Bits (&r)[4]) {
  even[0] = __byte_perm(r[0], r[1], 0x6420);
  even[1] = __byte_perm(r[2], r[3], 0x6420);
  odd[0] = __byte_perm(r[0], r[1], 0x7531);
  odd[1] = __byte_perm(r[2], r[3], 0x7531);
}

{{end}}
// 16 rows of A.
__device__ __forceinline__ void load_a(Bits (&a)[4], const Unit* tile, int row, int k, int lane) {
  if constexpr (kAAlongK) {
    load_matrices(a, tile + place<BK / kVector>(row + lane % 16, k / kVector + lane / 16));
  } else {
{{if int8}}
    Bits r[4], even[2], odd[2];
    load_transposed(r, tile + place<BM / kVector>(k + permuted_line(lane), row / kVector));
    part_bytes(even, odd, r);
    a[0] = even[0], a[1] = odd[0], a[2] = even[1], a[3] = odd[1];
{{else}}
    load_transposed(a, tile + place<BM / kVector>(k + lane / 16 * 8 + lane % 8, row / kVector + lane / 8 % 2));
{{end}}
  }
}
