// One thread per element.
// @launch {{launch}}
{{types}}
extern "C" __global__ void {{name}}({{parameters}}) {
  long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= static_cast<long long>(N) * C * HW)
    return;
  int c = i / HW % C;
  Acc scale = static_cast<Acc>(gamma[c]) / sqrt(static_cast<Acc>(var[c]) + eps);
  y[i] = static_cast<Out>((static_cast<Acc>(x[i]) - static_cast<Acc>(mean[c])) * scale +
                          static_cast<Acc>(beta[c]));
}
