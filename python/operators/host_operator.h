// One of torch's operators for the GPU, done by the CPU's operator of the same name over the same
// memory.
#pragma once

#include "aliases.h"
#include "clock.h"
#include "cost.h"
#include "random.h"
#include "traits.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kernevo {

using Values = std::vector<c10::IValue>;

// The keys above a backend's: they have been gone through on the GPU's side.
inline c10::DispatchKeySet keys_above() {
  static const c10::DispatchKeySet keys =
      c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot});
  return keys;
}

class HostCall {
public:
  HostCall(const c10::OperatorHandle& op, const Traits& traits) : op_(op), traits_(traits) {}

  // Takes arguments of the program, returns results for it. `on_device`: results in the GPU's
  // memory and as its tensors; else both are the host's.
  Values run(Values arguments, bool on_device) {
    for (size_t i = 0; i < arguments.size(); ++i)
      arguments[i] = as_host_takes(arguments[i], static_cast<int>(i));
    check_devices(arguments);
    on_device = on_device && !result_on_host_;
    std::optional<SeededCpu> seeded;
    if (traits_.random && !host_generator_)
      seeded.emplace(seed_ ? *seed_ : next_seed(generator_));
    Values results = call(arguments, on_device && !in_host_memory_);
    aliases_.take_over_resized();
    if (on_device)
      for (size_t i = 0; i < results.size(); ++i)
        if (i == 0 || !traits_.host_result)
          results[i] = as_program_gets(results[i]);
    return results;
  }
  // Whether the host's tensor is one that the program gave: then what it holds is in place.
  bool is_given(const at::Tensor& host) const { return aliases_.is_given(host); }
  // Results for the program that are computed in the host's memory first: the GPU's is asked for
  // them alone.
  Values run_in_host_memory(Values arguments) {
    in_host_memory_ = true;
    return run(std::move(arguments), true);
  }
  void draw_with(uint64_t seed) { seed_ = seed; }

private:
  c10::IValue as_host_takes(const c10::IValue& value, int index) {
    if (value.isTensor())
      return tensor(value.toTensor());
    if (value.isDevice()) {
      result_on_host_ =
          result_on_host_ || (index == traits_.device_argument && value.toDevice().is_cpu());
      check_number(value.toDevice());
      return value.toDevice().is_cuda() ? c10::IValue(c10::Device(c10::kCPU)) : value;
    }
    if (value.isGenerator()) {
      if (value.toGenerator().device().is_cpu()) {
        host_generator_ = true;
        return value;
      }
      generator_ = value.toGenerator();
      return {};
    }
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& one : value.toTensorVector())
        list.push_back(tensor(one));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& one : value.toOptionalTensorVector())
        list.push_back(one ? std::optional<at::Tensor>(tensor(*one)) : std::nullopt);
      return list;
    }
    return value;
  }

  at::Tensor tensor(const at::Tensor& given) {
    if (!given.defined())
      return given;
    if (given.is_cuda()) {
      TORCH_CHECK_NOT_IMPLEMENTED(given.layout() == c10::kStrided, traits_.name, ": ",
                                  given.layout(), " tensors are not on the virtual GPU");
      check_number(given.device());
      on_gpu_ = true;
      return aliases_.on_host(given);
    }
    if (given.device().is_cpu()) {
      aliases_.keep_on_host(given);
      on_host_ = on_host_ || given.dim() > 0;
    }
    return given;
  }

  static void check_number(c10::Device device) {
    TORCH_CHECK(!device.is_cuda() || device.index() <= 0,
                "CUDA error: invalid device ordinal; there is one virtual GPU, cuda:0");
  }

  void check_devices(const Values& arguments) const {
    if (!on_gpu_)
      return;
    const bool self_on_host =
        traits_.host_tensors && traits_.name.find("index") != std::string::npos &&
        arguments[0].isTensor() && on_host_ && is_of_host(arguments[0].toTensor());
    TORCH_CHECK(
        !self_on_host,
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)");
    TORCH_CHECK(
        !on_host_ || traits_.host_tensors,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "
        "and cpu! (when checking the arguments of ",
        traits_.name, ")");
    if (traits_.product && arguments[0].isTensor()) {
      const auto type = arguments[0].toTensor().scalar_type();
      TORCH_CHECK_NOT_IMPLEMENTED(!c10::isIntegralType(type, true), "\"",
                                  traits_.name.substr(6, traits_.name.find('.') - 6),
                                  "_cuda\" not implemented for '", c10::toString(type), "'");
    }
  }
  bool is_of_host(const at::Tensor& tensor) const { return aliases_.is_kept(tensor); }

  Values call(const Values& arguments, bool on_device) {
    if (traits_.sums_narrowly && !traits_.mutates && has_narrow(arguments) &&
        !has_narrow_statistics(arguments))
      return narrowed(call_once(widened(arguments), false), arguments, on_device);
    try {
      return call_once(arguments, on_device);
    } catch (const c10::Error& error) {
      // A GPU computes in sixteen bits what some of the CPU's operators do not.
      const std::string_view what = error.what_without_backtrace();
      const bool half = what.find("not implemented for 'Half'") != std::string_view::npos ||
                        what.find("not implemented for 'BFloat16'") != std::string_view::npos;
      if (!half || traits_.mutates || !has_narrow(arguments))
        throw;
    }
    return narrowed(call_once(widened(arguments), false), arguments, on_device);
  }

  Values call_once(const Values& arguments, bool on_device) {
    const ResultAllocator::OnDevice memory(on_device);
    const c10::impl::ExcludeDispatchKeyGuard below(keys_above());
    torch::jit::Stack stack(arguments.begin(), arguments.end());
    op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
    return {std::make_move_iterator(stack.begin()), std::make_move_iterator(stack.end())};
  }

  static bool is_narrow(const at::Tensor& tensor) {
    return tensor.defined() && c10::isReducedFloatingType(tensor.scalar_type());
  }
  static bool has_narrow(const Values& values) {
    bool found = false;
    each_tensor(values, [&](const at::Tensor& tensor) { found = found || is_narrow(tensor); });
    return found;
  }

  // They are changed in place, which a wider copy of them would not be.
  bool has_narrow_statistics(const Values& arguments) const {
    if (traits_.running < 0)
      return false;
    const c10::IValue& running = arguments[static_cast<size_t>(traits_.running)];
    return running.isTensor() && is_narrow(running.toTensor());
  }

  static Values widened(const Values& values) {
    const c10::impl::ExcludeDispatchKeyGuard below(keys_above());
    const auto widen = [](const at::Tensor& tensor) {
      return is_narrow(tensor) ? tensor.to(at::kFloat) : tensor;
    };
    Values wide;
    for (const c10::IValue& value : values)
      if (value.isTensor()) {
        wide.emplace_back(widen(value.toTensor()));
      } else if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor& one : value.toTensorVector())
          list.push_back(widen(one));
        wide.emplace_back(std::move(list));
      } else {
        wide.push_back(value);
      }
    return wide;
  }

  // Results of the types a GPU gives them: its parameters' gradients are of their type.
  Values narrowed(Values results, const Values& arguments, bool on_device) const {
    const ResultAllocator::OnDevice memory(on_device);
    const c10::impl::ExcludeDispatchKeyGuard below(keys_above());
    const auto type_of = [&](int index) {
      const c10::IValue* const value = index < 0 ? nullptr : &arguments[static_cast<size_t>(index)];
      return value != nullptr && value->isTensor() && value->toTensor().defined()
                 ? std::optional<at::ScalarType>(value->toTensor().scalar_type())
                 : std::nullopt;
    };
    std::optional<at::ScalarType> narrow;
    each_tensor(arguments, [&](const at::Tensor& tensor) {
      if (is_narrow(tensor))
        narrow = tensor.scalar_type();
    });
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].isTensor() || !results[i].toTensor().defined())
        continue;
      const at::Tensor result = results[i].toTensor();
      const auto of_input =
          traits_.sums_narrowly ? type_of(traits_.input).value_or(*narrow) : *narrow;
      const auto type = i == 0               ? of_input
                        : traits_.statistics ? at::kFloat
                                             : type_of(traits_.weight).value_or(of_input);
      if (result.scalar_type() == at::kFloat)
        results[i] = result.to(type, false, true);
    }
    return results;
  }

  c10::IValue as_program_gets(const c10::IValue& value) {
    if (value.isTensor())
      return aliases_.on_device(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& one : value.toTensorVector())
        list.push_back(aliases_.on_device(one));
      return list;
    }
    return value;
  }

  const c10::OperatorHandle& op_;
  const Traits& traits_;
  Aliases aliases_;
  bool on_gpu_ = false;
  bool on_host_ = false;
  bool result_on_host_ = false;
  bool host_generator_ = false;
  std::optional<at::Generator> generator_;
  bool in_host_memory_ = false;
  std::optional<uint64_t> seed_; // else the generator's next
};

} // namespace kernevo
