// Takes a batch into the running maximum and the sum of exponentials relative to it. The old sum is rescaled once a batch, not once an
// element.
__device__ __forceinline__ void take_batch(Acc& largest, Acc& sum, const Acc (&v)[VECTORS][kVector]) {
  Acc top = largest;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) top = fmax(top, v[i][j]);
  if (top == -static_cast<Acc>(INFINITY)) return; // nothing yet
  sum *= exp(largest - top);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
#pragma unroll
    for (int j = 0; j < kVector; j++) sum += exp(v[i][j] - top);
  largest = top;
}
