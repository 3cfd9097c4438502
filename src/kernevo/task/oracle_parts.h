// What the oracles share: reading inputs, sums with their error, and the final tolerance.
#pragma once

#include "kernevo/task/operation.h"
#include "kernevo/task/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace kernevo {

// A buffer as numbers.
class Reader {
public:
  Reader() = default;
  Reader(DType dtype, const OracleInput& input)
      : dtype_(dtype), base_(input.bytes.data()), pages_(input.pages) {}
  double operator[](std::int64_t index) const {
    if (pages_ != nullptr)
      pages_->need(static_cast<std::uint64_t>(index) * size_of(dtype_), size_of(dtype_));
    if (dtype_ == DType::float32) { // most are, and they are read by the hundred million
      float value = 0;
      std::memcpy(&value, base_ + index * static_cast<std::int64_t>(sizeof value), sizeof value);
      return value;
    }
    return load_element(dtype_, base_, index);
  }

private:
  DType dtype_ = DType::float32;
  const std::byte* base_ = nullptr;
  LazyPages* pages_ = nullptr;
};

struct OracleContext {
  const Problem& problem;
  const Operation& op;
  const OracleInputs& inputs;
  DType result = DType::float32; // of the output
  bool integers = false;         // exact arithmetic modulo 2^64, wrapped to the result type
  double u_result = 0;           // one rounding to the result type
  double u_sum = 0;              // one rounding in the accumulator an honest kernel uses
  double fast = 0;  // relative error of the fast forms of exp, log, division and square root
  double floor = 0; // what flushing denormals, or rounding among them, may cost
  double tf32 = 0;  // relative error of products with TF32 operands, when allowed

  std::int64_t dim(const char* name) const { return problem.dims.at(name); }
  Reader reader(const std::string& name) const;
  double scalar(const std::string& name) const;
};

OracleContext make_context(const Problem& problem, const Operation& op, const OracleInputs& inputs,
                           DType result);

// A number with the error an honest kernel may have made up to here.
struct Estimate {
  double value = 0;
  double error = 0;
};

// How rounding errors of n additions grow when they are independent, with room to spare.
inline double growth(double n) {
  return 4.0 + 2.0 * std::sqrt(n);
}

// The same for sums of positive terms, many of which may be equal (a row of mostly zeros, centred
// or exponentiated): their roundings all go one way. A serial float32 sum of 1025 such terms was
// seen 128 roundings off.
inline double biased_growth(double n) {
  return growth(n) + std::min(n / 4.0, 4096.0);
}

// A sum in float64 that remembers how hard it is. Partial sums of independent terms stay near
// |sum| + a few deviations whatever the order of summation, which bounds what each rounding costs;
// the sum of magnitudes would allow half precision to pass at long lengths.
class Sum {
public:
  void add(double term) {
    value_ += term;
    magnitude_ += std::abs(term);
    squares_ += term * term;
    ++count_;
  }
  void add_integer(std::int64_t a, std::int64_t b = 1) {
    wrapped_ += static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
  }
  double value() const { return value_; }
  double count() const { return static_cast<double>(count_); }
  std::uint64_t wrapped() const { return wrapped_; }
  double partial_scale() const {
    return std::min(magnitude_, std::abs(value_) + 6.0 * std::sqrt(squares_));
  }
  double error(const OracleContext& context) const {
    return (growth(count()) * context.u_sum + context.tf32) * partial_scale() +
           8.0 * count() * context.floor;
  }
  Estimate estimate(const OracleContext& context) const { return {value_, error(context)}; }

private:
  double value_ = 0;
  double magnitude_ = 0;
  double squares_ = 0;
  std::int64_t count_ = 0;
  std::uint64_t wrapped_ = 0;
};

// The final value: the error so far plus storing it.
Expected finish(const OracleContext& context, Estimate estimate);
Expected finish_integer(const OracleContext& context, std::uint64_t wrapped);
// A value that is one of the inputs; `flushable` when arithmetic may have flushed a denormal.
Expected finish_exact(const OracleContext& context, double value, bool flushable);

// An activation applied to a computed number.
Estimate activate(const OracleContext& context, const std::string& function, Estimate z,
                  double alpha = 0);

// One oracle per group of families. Points are in range and ascending.
using Points = std::span<const std::int64_t>;
std::vector<Expected> expected_pointwise(const OracleContext& context, Points points);
std::vector<Expected> expected_products(const OracleContext& context, Points points);
std::vector<Expected> expected_reductions(const OracleContext& context, Points points);
std::vector<Expected> expected_rows(const OracleContext& context, Points points);
std::vector<Expected> expected_norms(const OracleContext& context, Points points);
std::vector<Expected> expected_attention(const OracleContext& context, Points points);

} // namespace kernevo
