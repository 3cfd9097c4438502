__device__ __forceinline__ void load_transposed(Bits (&r)[4], const Unit* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(static_cast<Bits>(__cvta_generic_to_shared(row)))
               : "memory");
}
