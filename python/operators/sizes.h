// Results of an operator without its values: what torch knows of their sizes on its meta device, as
// new tensors of the GPU.
#pragma once

#include "cost.h"
#include "host_operator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/cuda/EmptyTensor.h>

#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace kernevo {

class MetaCall {
public:
  MetaCall(const c10::OperatorHandle& op, const Traits& traits) : op_(op), traits_(traits) {}

  // Nothing where torch does not know, or the result is no plain new tensor. Tensors that an
  // operator resizes are resized then.
  std::optional<Values> run(const Values& arguments) {
    std::optional<Values> results = of_meta(arguments);
    if (!results)
      return std::nullopt;
    for (const auto& [device, meta] : pairs_)
      if (device.sizes() != meta.sizes())
        device.resize_(meta.sizes());
    for (c10::IValue& result : *results)
      result = on_device(result);
    return results;
  }

  // Results that somebody names, as far as torch knows them: the arguments that they are, and new
  // ones only of the right sizes and types.
  Values checked(const Values& arguments, Values named) {
    const std::optional<Values> results = of_meta(arguments);
    if (!results)
      return named;
    TORCH_CHECK(results->size() == named.size(), "other results");
    for (size_t i = 0; i < named.size(); ++i) {
      if (!(*results)[i].isTensor() || !(*results)[i].toTensor().defined())
        continue;
      const at::Tensor& meta = (*results)[i].toTensor();
      if (const auto given = argument_of(meta)) {
        named[i] = *given;
        continue;
      }
      TORCH_CHECK(named[i].isTensor() && on_gpu(named[i].toTensor()) &&
                      named[i].toTensor().sizes() == meta.sizes() &&
                      named[i].toTensor().scalar_type() == meta.scalar_type(),
                  "a result of another size or type");
    }
    return named;
  }

private:
  std::optional<Values> of_meta(const Values& arguments) {
    if (traits_.needs_result || traits_.host_result ||
        !op_.hasComputedKernelForDispatchKey(c10::DispatchKey::Meta))
      return std::nullopt;
    Values shown;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].isDevice() && arguments[i].toDevice().is_cpu())
        return std::nullopt;
      shown.push_back(without_values(arguments[i]));
    }
    Values results;
    try {
      const c10::impl::ExcludeDispatchKeyGuard below(keys_above());
      torch::jit::Stack stack(shown.begin(), shown.end());
      op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::Meta), &stack);
      results.assign(std::make_move_iterator(stack.begin()), std::make_move_iterator(stack.end()));
    } catch (const std::exception&) {
      return std::nullopt; // whoever runs it says what is wrong
    }
    for (const c10::IValue& result : results)
      if (!is_plain(result))
        return std::nullopt;
    return results;
  }

  std::optional<at::Tensor> argument_of(const at::Tensor& meta) const {
    for (const auto& [device, shown] : pairs_)
      if (shown.is_same(meta))
        return device;
    return std::nullopt;
  }

  at::Tensor without_values(const at::Tensor& tensor) {
    if (!tensor.defined() || (tensor.device().is_cpu() && tensor.dim() == 0))
      return tensor;
    for (const auto& [device, meta] : pairs_)
      if (device.is_same(tensor))
        return meta;
    at::Tensor meta =
        at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type());
    pairs_.emplace_back(tensor, meta);
    return meta;
  }

  c10::IValue without_values(const c10::IValue& value) {
    if (value.isTensor())
      return without_values(value.toTensor());
    if (value.isDevice())
      return c10::Device(c10::kMeta);
    if (value.isGenerator())
      return {};
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& one : value.toTensorVector())
        list.push_back(without_values(one));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& one : value.toOptionalTensorVector())
        list.push_back(one ? std::optional<at::Tensor>(without_values(*one)) : std::nullopt);
      return list;
    }
    return value;
  }

  bool is_plain(const at::Tensor& result) const {
    if (!result.defined())
      return true;
    if (!result.is_meta() || result.layout() != c10::kStrided)
      return false;
    for (const auto& [device, meta] : pairs_)
      if (meta.is_same(result))
        return true;
      else if (meta.storage().is_alias_of(result.storage()))
        return false;
    return true;
  }
  bool is_plain(const c10::IValue& result) const {
    if (result.isTensor())
      return is_plain(result.toTensor());
    if (!result.isTensorList())
      return false;
    for (const at::Tensor& one : result.toTensorVector())
      if (!is_plain(one))
        return false;
    return true;
  }

  at::Tensor on_device(const at::Tensor& result) const {
    if (!result.defined())
      return result;
    if (const auto given = argument_of(result))
      return *given;
    return at::detail::empty_strided_cuda(result.sizes(), result.strides(), result.scalar_type(),
                                          current_gpu());
  }
  c10::IValue on_device(const c10::IValue& result) const {
    if (result.isTensor())
      return on_device(result.toTensor());
    c10::List<at::Tensor> list;
    for (const at::Tensor& one : result.toTensorVector())
      list.push_back(on_device(one));
    return list;
  }

  const c10::OperatorHandle& op_;
  const Traits& traits_;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_; // of the program, and without values
};

// Copies what the host computed into the results that are no arguments.
inline void fill_results(const HostCall& call, const Values& results, const Values& computed) {
  Aliases aliases;
  const auto fill = [&](const at::Tensor& to, const at::Tensor& from) {
    if (!on_gpu(to) || !from.defined() || call.is_given(from))
      return;
    if (from.numel() == 0)
      return; // statistics that the host's operator does not keep
    TORCH_CHECK(to.sizes() == from.sizes(), "the result has other sizes here: ", from.sizes(),
                " instead of ", to.sizes());
    aliases.on_host(to).copy_(from);
  };
  TORCH_CHECK(results.size() == computed.size(), "other results");
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].isTensor() && computed[i].isTensor()) {
      fill(results[i].toTensor(), computed[i].toTensor());
    } else if (results[i].isTensorList() && computed[i].isTensorList()) {
      const auto to = results[i].toTensorVector();
      const auto from = computed[i].toTensorVector();
      TORCH_CHECK(to.size() == from.size(), "other results");
      for (size_t j = 0; j < to.size(); ++j)
        fill(to[j], from[j]);
    }
  }
}

} // namespace kernevo
