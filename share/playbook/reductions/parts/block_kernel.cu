extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const Element* line = x + static_cast<size_t>(blockIdx.x / INNER) * R * INNER + blockIdx.x % INNER;
  const bool aligned = INNER == 1 && R % kVector == 0;
  const Part part = merge_block(share_of(line, 0, R, INNER, aligned, threadIdx.x));
  if (threadIdx.x == 0) y[blockIdx.x] = result(part, R);
}
