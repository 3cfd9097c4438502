// torch's operators on the virtual GPU. Kernels of torch are machine code that it cannot run; every
// operator that would launch some is replaced by the CPU's over the same memory. What only makes
// tensors, looks at them or copies their bytes stays torch's own. One file for the compiler:
// torch's headers take seconds to read.
#include "captured.h"
#include "host_operator.h"
#include "missing.h"
#include "recorded.h"
#include "replayed.h"

#include <ATen/native/transformers/attention.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include <cstdio>
#include <set>

namespace kernevo {
namespace {

class HostOperator final : public c10::OperatorKernel {
public:
  explicit HostOperator(Traits traits) : traits_(std::move(traits)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    const size_t count = traits_.written.size();
    Values arguments(std::make_move_iterator(stack->end() - static_cast<std::ptrdiff_t>(count)),
                     std::make_move_iterator(stack->end()));
    torch::jit::drop(*stack, count);
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    const Turn turn = begin_operator(stream);
    const RecordingState state = recording_state();
    Values results = turn == Turn::captured ? record(op, traits_, arguments)
                     : state.plain()        ? HostCall(op, traits_).run(arguments, true)
                                            : run_recorded(op, traits_, arguments, stream, state);
    if (turn == Turn::priced)
      end_operator(stream, work_of(traits_, arguments, results));
    for (c10::IValue& result : results)
      stack->push_back(std::move(result));
  }

private:
  Traits traits_;
};

// Has a kernel for the GPU alone.
class NotHere final : public c10::OperatorKernel {
public:
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack*) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, toString(op.operator_name()), " is not on the virtual GPU");
  }
};

// Asks whether a library of NVIDIA's is to be used.
class No final : public c10::OperatorKernel {
public:
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) {
    torch::jit::drop(*stack, op.schema().arguments().size());
    stack->emplace_back(false);
  }
};

// Bytes are copied by the virtual GPU, in the order of the stream and at its price; what also
// converts or reorders does so on one side first.
at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  static HostOperator on_host(traits_of(op));
  const bool plain = to.scalar_type() == from.scalar_type() && to.sizes() == from.sizes() &&
                     to.is_contiguous() && from.is_contiguous() && to.is_conj() == from.is_conj() &&
                     to.is_neg() == from.is_neg();
  if (plain)
    return at::native::copy_(to, from, non_blocking);
  if (to.is_cuda() && from.is_cuda()) {
    torch::jit::Stack stack{to, from, non_blocking};
    on_host(op, {}, &stack);
    return to;
  }
  if (to.is_cuda()) {
    const at::Tensor bytes = from.to(to.scalar_type()).resolve_conj().resolve_neg().contiguous();
    at::Tensor there = at::empty(bytes.sizes(), to.options(), c10::MemoryFormat::Contiguous);
    at::native::copy_(there, bytes, false);
    torch::jit::Stack stack{to, there, non_blocking};
    on_host(op, {}, &stack);
    return to;
  }
  const at::Tensor bytes = from.to(to.scalar_type()).resolve_conj().resolve_neg().contiguous();
  at::Tensor here =
      at::empty(bytes.sizes(), to.options().pinned_memory(false), c10::MemoryFormat::Contiguous);
  at::native::copy_(here, bytes, false);
  return to.copy_(here);
}

// Which kernel for attention: none of the fused ones is here, whatever is asked for.
int64_t plain_attention(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                        const std::optional<at::Tensor>&, double, bool, std::optional<double>,
                        bool) {
  return 0; // of the enumeration: the one made of operators
}

bool stays(std::string_view name) {
  return one_of(name, {"empty",
                       "empty_strided",
                       "as_strided",
                       "as_strided_",
                       "view",
                       "resize_",
                       "resize_as_",
                       "set_",
                       "_to_copy",
                       "_local_scalar_dense",
                       "record_stream",
                       "is_pinned",
                       "_pin_memory",
                       "pin_memory",
                       "_reshape_alias",
                       "unfold",
                       "view_as_real",
                       "view_as_complex",
                       "_efficientzerotensor",
                       "is_set_to",
                       "alias",
                       "detach",
                       "_copy_from",
                       "_copy_from_and_resize",
                       "_cudnn_init_dropout_state"});
}

// They have one body for all devices, which reaches for machine code further in.
bool reaches_kernels(std::string_view name) {
  return one_of(
      name, {"convolution", "_convolution", "convolution_backward", "convolution_overrideable"});
}

// Warnings that a registration takes the place of another: that is what is wanted.
class Quiet final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

torch::Library& library() {
  static auto* const made =
      new torch::Library(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__, __LINE__);
  return *made;
}

template <class Kernel, class... Arguments>
void put(const c10::OperatorName& name, Arguments&&... arguments) {
  const std::string full = toString(name);
  library().impl(full.c_str(), torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(
                                   std::forward<Arguments>(arguments)...)));
}

int install() {
  Quiet quiet;
  const c10::WarningUtils::WarningHandlerGuard guard(&quiet);
  c10::SetAllocator(c10::kCPU, &ResultAllocator::get(), 255);
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&plain_attention);
  int count = 0;
  auto& dispatcher = c10::Dispatcher::singleton();
  std::set<std::string> done = put_missing(library());
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!name.name.starts_with("aten::") || done.contains(toString(name)))
      continue;
    const auto op = dispatcher.findSchema(name);
    const std::string_view plain = std::string_view(name.name).substr(6);
    if (!op || stays(plain))
      continue;
    if (plain == "copy_") {
      library().impl("aten::copy_", &copy);
      replayable().insert("aten::copy_");
    } else if (plain == "_fused_sdp_choice") {
      library().impl("aten::_fused_sdp_choice", &plain_attention);
    } else if (plain.starts_with("_use_cudnn") || plain.starts_with("_use_miopen")) {
      put<No>(name);
    } else if (op->hasKernelForDispatchKey(c10::DispatchKey::CUDA) || reaches_kernels(plain)) {
      if (op->hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) {
        put<HostOperator>(name, traits_of(*op));
        replayable().insert(toString(name));
        ++count;
      } else {
        put<NotHere>(name);
      }
    }
  }
  return count;
}

} // namespace
} // namespace kernevo

// How many operators are replaced; -1, and the reason on the standard error, when they cannot be.
extern "C" __attribute__((visibility("default"))) int kernevo_install_operators() {
  try {
    return kernevo::install();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "kernevo: torch's operators cannot be replaced: %s\n", problem.what());
    return -1;
  }
}

// Does an operator of a trace again; `text` is python/kernevo_judge/replay.py's. 0, or 1 and why.
extern "C" __attribute__((visibility("default"))) int
kernevo_replay_operator(const char* text, size_t bytes, char* error, size_t most) {
  std::string why;
  try {
    const c10::InferenceMode plain;
    kernevo::replay_operator(std::string_view(text, bytes));
    return 0;
  } catch (const c10::Error& problem) {
    why = problem.what_without_backtrace();
  } catch (const std::exception& problem) {
    why = problem.what();
  }
  if (most > 0)
    error[why.copy(error, most - 1)] = 0;
  return 1;
}
