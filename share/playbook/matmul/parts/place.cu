// Where a unit lies in a tile whose lines have UNITS of them.
template <int UNITS>
__device__ __forceinline__ int place(int line, int unit) {
  constexpr int kLinesOfBanks = UNITS < 8 ? 8 / UNITS : 1; // lines that all banks hold side by side
{{if int8}}
  const int key = line % 2 + line / 4 % 4 * 2; // a transposed matrix takes lines 0, 1, 4, 5, 8, ... (see permuted_lines)
{{else}}
  const int key = line;
{{end}}
  return line * UNITS + (unit ^ (key / kLinesOfBanks % (UNITS < 8 ? UNITS : 8)));
}
