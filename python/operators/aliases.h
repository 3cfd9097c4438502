// One call's tensors, seen twice: the program's on the GPU, and the same memory as a CPU operator
// takes it. What comes back is the program's own tensor where it is one, a view of its memory where
// it is that, and else a new tensor on the GPU.
#pragma once

#include "device_memory.h"

#include <ATen/core/Tensor.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/SmallVector.h>

namespace kernevo {

class Aliases {
public:
  at::Tensor on_host(const at::Tensor& tensor) {
    for (const Pair& pair : tensors_)
      if (pair.device.is_same(tensor))
        return pair.host;
    const auto& from = *tensor.unsafeGetTensorImpl();
    auto impl = c10::make_intrusive<c10::TensorImpl>(
        on_host(tensor.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU), from.dtype());
    copy_shape(*impl, from);
    tensors_.push_back({tensor, at::Tensor(std::move(impl))});
    return tensors_.back().host;
  }

  // What is on the host already stays so, also as a result.
  void keep_on_host(const at::Tensor& tensor) { host_.push_back(tensor); }

  // Whether the memory is the program's.
  bool is_given(const at::Tensor& host) const {
    for (const Storages& pair : storages_)
      if (pair.given && pair.host.is_alias_of(host.storage()))
        return true;
    return false;
  }

  bool is_kept(const at::Tensor& tensor) const {
    for (const at::Tensor& kept : host_)
      if (kept.is_same(tensor))
        return true;
    return false;
  }

  at::Tensor on_device(const at::Tensor& result) {
    if (!result.defined() || !result.device().is_cpu())
      return result;
    TORCH_CHECK_NOT_IMPLEMENTED(result.layout() == c10::kStrided, result.layout(),
                                " tensors are not on the virtual GPU");
    for (const Pair& pair : tensors_)
      if (pair.host.is_same(result))
        return pair.device;
    if (is_kept(result))
      return result;
    const auto& from = *result.unsafeGetTensorImpl();
    auto impl = c10::make_intrusive<c10::TensorImpl>(
        on_device(result.storage()), c10::DispatchKeySet(c10::DispatchKey::CUDA), from.dtype());
    copy_shape(*impl, from);
    return at::Tensor(std::move(impl));
  }

  // Operators may resize what they write to.
  void take_over_resized() {
    for (Storages& pair : storages_)
      if (pair.given && pair.host.data() != pair.device.data()) {
        const size_t bytes = pair.host.nbytes();
        c10::Storage moved = as_device_storage(pair.host);
        pair.device.set_data_ptr_noswap(moved.set_data_ptr(c10::DataPtr(nullptr, current_gpu())));
        pair.device.set_nbytes(bytes);
      }
    for (Pair& pair : tensors_) {
      auto& device = *pair.device.unsafeGetTensorImpl();
      const auto& host = *pair.host.unsafeGetTensorImpl();
      if (device.sizes() != host.sizes() || device.strides() != host.strides() ||
          device.storage_offset() != host.storage_offset())
        device.set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
    }
  }

private:
  struct Pair {
    at::Tensor device;
    at::Tensor host;
  };
  struct Storages {
    c10::Storage device;
    c10::Storage host;
    bool given; // by the program; else a result's
  };

  static void copy_shape(c10::TensorImpl& to, const c10::TensorImpl& from) {
    to.set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
    to._set_conj(from.is_conj());
    to._set_neg(from.is_neg());
    if (from.is_wrapped_number())
      to.set_wrapped_number(true);
  }

  c10::Storage on_host(const c10::Storage& storage) {
    for (const Storages& pair : storages_)
      if (pair.device.is_alias_of(storage))
        return pair.host;
    c10::Storage host(c10::make_intrusive<c10::StorageImpl>(
        c10::StorageImpl::use_byte_size_t(), storage.nbytes(),
        c10::DataPtr(storage.mutable_data(), c10::Device(c10::kCPU)), &ResultAllocator::get(),
        true));
    storages_.push_back({storage, host, true});
    return host;
  }

  c10::Storage on_device(const c10::Storage& storage) {
    for (const Storages& pair : storages_)
      if (pair.host.is_alias_of(storage))
        return pair.device;
    storages_.push_back({as_device_storage(storage), storage, false});
    return storages_.back().device;
  }

  c10::SmallVector<Pair, 6> tensors_;
  c10::SmallVector<Storages, 6> storages_;
  c10::SmallVector<at::Tensor, 2> host_;
};

} // namespace kernevo
