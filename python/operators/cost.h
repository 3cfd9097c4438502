// What an operator would ask of a GPU: the bytes it must move and the arithmetic it is known for.
#pragma once

#include "clock.h"
#include "traits.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace kernevo {

// Calls f with every tensor among the values.
template <class F> void each_tensor(const std::vector<c10::IValue>& values, F f) {
  for (const c10::IValue& value : values)
    if (value.isTensor()) {
      f(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& one : value.toTensorVector())
        f(one);
    } else if (value.isOptionalTensorList()) {
      for (const std::optional<at::Tensor>& one : value.toOptionalTensorVector())
        if (one)
          f(*one);
    }
}

inline bool on_gpu(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cuda() && tensor.has_storage();
}

// Of the operators that are no products and yet compute more than they read and write: operations
// for each element of the result, by what any algorithm for them needs. A program must find no
// operator that does a product's work for less.
inline double work_of_each(std::string_view plain, const std::vector<at::Tensor>& given,
                           double elements) {
  const std::string_view name = plain.substr(0, plain.find('.'));
  const auto begins = [&](std::string_view with) { return name.starts_with(with); };
  const auto size = [&](size_t index, int64_t dimension) {
    return given.size() > index && given[index].dim() > 0
               ? static_cast<double>(std::max<int64_t>(given[index].size(dimension), 1))
               : 1.0;
  };
  if (begins("_trilinear")) { // at most, by how large the factors and the result are
    double factors = 9;
    for (const at::Tensor& one : given)
      factors *= static_cast<double>(std::max<int64_t>(one.numel(), 1));
    return std::sqrt(factors / std::max(elements, 1.0));
  }
  if (begins("_cdist_") || begins("_pdist_"))
    return 3 * size(0, -1);
  // One filter for each element, as convolutions of any name.
  if (begins("slow_conv") || begins("_slow_conv") || begins("conv_depthwise") ||
      begins("_conv_depthwise") || begins("thnn_conv"))
    return given.size() > 1 ? 2 * static_cast<double>(given[1].numel()) / size(1, 0) : 2;
  if (name.ends_with("mm") || name.ends_with("_mm_cpu") || begins("_weight_int"))
    return 2 * size(0, -1);
  if (begins("_native_multi_head_attention") || begins("_transformer_encoder_layer"))
    return 16 * size(0, -1) + 4 * size(0, -2);
  if (begins("linalg_vector_norm") || begins("linalg_cross"))
    return 2;
  if (begins("linalg_") || begins("_linalg_") || begins("cholesky") || begins("lu_") ||
      begins("geqrf") || begins("ormqr") || begins("triangular_solve") || begins("matrix_exp"))
    return 4 * size(0, -1);
  if (begins("_fft_") || begins("sort") || begins("argsort") || begins("topk") ||
      begins("_unique") || begins("unique"))
    return 5 * std::log2(1 + size(0, -1));
  return 1;
}

// Multiplications and additions of the operators that are made of them; else some for each element.
inline double flops_of(std::string_view name, const std::vector<c10::IValue>& arguments,
                       const std::vector<c10::IValue>& results) {
  std::vector<at::Tensor> given;
  each_tensor(arguments, [&](const at::Tensor& one) {
    if (on_gpu(one))
      given.push_back(one);
  });
  double elements = 0;
  each_tensor(results, [&](const at::Tensor& one) {
    if (one.defined())
      elements += static_cast<double>(one.numel());
  });
  const auto is = [&](std::string_view stem) {
    const std::string_view plain = name.substr(name.find(':') + 2);
    const std::string_view base = plain.substr(0, plain.find('.'));
    return base == stem || (base.size() == stem.size() + 1 && base.starts_with(stem));
  };
  const bool with_addend =
      is("addmm") || is("baddbmm") || is("addmv") || is("addbmm") || is("_addmm_activation");
  const std::size_t left = with_addend ? 1 : 0;
  if ((with_addend || is("mm") || is("bmm") || is("mv") || is("dot") || is("_scaled_mm") ||
       is("linear")) &&
      given.size() > left && given[left].dim() > 0)
    return 2 * elements * static_cast<double>(given[left].size(-1));
  // Every output element is a sum over one filter; the two gradients are as much each.
  if ((is("convolution") || is("_convolution") || is("convolution_overrideable")) &&
      given.size() > 1 && given[1].dim() > 1 && given[1].size(0) > 0)
    return 2 * elements * static_cast<double>(given[1].numel()) /
           static_cast<double>(given[1].size(0));
  if (is("convolution_backward") && given.size() > 2 && given[2].size(0) > 0)
    return 4 * static_cast<double>(given[0].numel()) * static_cast<double>(given[2].numel()) /
           static_cast<double>(given[2].size(0));
  return elements * work_of_each(name.substr(name.find(':') + 2), given, elements);
}

inline OperatorWork work_of(const Traits& traits, const std::vector<c10::IValue>& arguments,
                            const std::vector<c10::IValue>& results) {
  OperatorWork work{traits.name.c_str(), 0, 0, 1};
  const auto add = [&](const at::Tensor& tensor) {
    if (!on_gpu(tensor))
      return;
    work.bytes += tensor.nbytes();
    work.arithmetic = tensor.scalar_type() == at::kDouble                ? 0
                      : c10::isReducedFloatingType(tensor.scalar_type()) ? 2
                                                                         : work.arithmetic;
  };
  each_tensor(arguments, add);
  each_tensor(results, add);
  work.flops = flops_of(traits.name, arguments, results);
  return work;
}

} // namespace kernevo
