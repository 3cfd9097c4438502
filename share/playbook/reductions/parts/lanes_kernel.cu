extern "C" __global__ void __launch_bounds__(BLOCK) {{name}}(
    {{restrict_parameters}}) {
  const int lane = threadIdx.x % LANES;
  const int at = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
  const bool inside = at < OUTER * INNER; // lanes behind the last only keep their neighbours company in the shuffles
  const Element* line = x + static_cast<size_t>(at / INNER) * R * INNER + at % INNER;
  const bool aligned = INNER == 1 && R % kVector == 0;
  const Part part = merge_lanes<LANES>(share_of(line, 0, inside ? R : 0, INNER, aligned, lane));
  if (lane == 0 && inside) y[at] = result(part, R);
}
