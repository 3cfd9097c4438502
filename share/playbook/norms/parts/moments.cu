// Count, mean and sum of squared deviations from it. Merging them never takes the difference of two large sums.
struct Moments {
  Acc count, mean, squares;
};

__device__ __forceinline__ Moments merge(Moments a, Moments b) {
  const Acc count = a.count + b.count;
  const Acc delta = b.mean - a.mean, share = count > 0 ? b.count / count : 0;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}
