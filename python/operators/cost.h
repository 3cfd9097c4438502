// What an operator would ask of a GPU: the bytes it must move and the arithmetic it is known for.
#pragma once

#include "clock.h"
#include "traits.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

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

// Multiplications and additions of the operators that are made of them; else one for each element.
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
  return elements;
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
