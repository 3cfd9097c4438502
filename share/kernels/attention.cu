// One thread per query; its weights wait in a scratch buffer.
// @scratch weights {{scratch}} [B * H * L * L]
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}, Acc* weights) {
  int l = blockIdx.x * blockDim.x + threadIdx.x;
  if (l >= L)
    return;
  long long head = static_cast<long long>(blockIdx.y) * L * D;
  const Element* query = q + head + static_cast<long long>(l) * D;
  Acc* weight = weights + (static_cast<long long>(blockIdx.y) * L + l) * L;
  int visible = causal ? l + 1 : L;
  Acc largest = 0;
  for (int j = 0; j < visible; ++j) {
    const Element* key = k + head + static_cast<long long>(j) * D;
    Acc score = 0;
    for (int d = 0; d < D; ++d)
      score += static_cast<Acc>(query[d]) * static_cast<Acc>(key[d]);
    score /= sqrt(static_cast<Acc>(D));
    weight[j] = score;
    largest = j == 0 ? score : fmax(largest, score);
  }
  Acc sum = 0;
  for (int j = 0; j < visible; ++j) {
    weight[j] = exp(weight[j] - largest);
    sum += weight[j];
  }
  for (int d = 0; d < D; ++d) {
    Acc total = 0;
    for (int j = 0; j < visible; ++j)
      total += weight[j] * static_cast<Acc>(v[head + static_cast<long long>(j) * D + d]);
    o[head + static_cast<long long>(l) * D + d] = static_cast<Out>(total / sum);
  }
}
