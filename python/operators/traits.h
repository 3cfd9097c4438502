// What is known of an operator before it is called: what a GPU would refuse, which arguments it
// writes to, whether it draws random numbers.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct Traits {
  std::string name;          // aten::add.Tensor
  std::vector<bool> written; // of the arguments
  int device_argument = -1;
  int input = 0;    // the argument called so; else the first
  int weight = -1;  // of a normalisation
  int running = -1; // statistics that are changed though the schema does not say so
  bool mutates = false;
  bool random = false;
  bool host_tensors = false;  // may stand beside the GPU's
  bool host_result = false;   // of the results all but the first stay on the host
  bool needs_result = false;  // its results' sizes depend on values, which a capture cannot know
  bool statistics = false;    // all results but the first are, and a GPU keeps them in float
  bool sums_narrowly = false; // the CPU adds up in sixteen bits what a GPU adds up in more
  bool product = false;       // of matrices: a GPU has none of integers
};

inline bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

inline Traits traits_of(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  Traits traits;
  traits.name = schema.name();
  const std::string_view name = std::string_view(schema.name()).substr(schema.name().find(':') + 2);
  if (!schema.overload_name().empty())
    traits.name += "." + schema.overload_name();
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    traits.written.push_back(written);
    traits.mutates = traits.mutates || written;
    if (argument.name() == "device")
      traits.device_argument = static_cast<int>(i);
    if (argument.name() == "input")
      traits.input = static_cast<int>(i);
    if (argument.name() == "weight")
      traits.weight = static_cast<int>(i);
    if (argument.name() == "running_mean")
      traits.running = static_cast<int>(i);
  }
  traits.random = op.hasTag(at::Tag::nondeterministic_seeded);
  traits.needs_result =
      op.hasTag(at::Tag::dynamic_output_shape) || op.hasTag(at::Tag::data_dependent_output);
  traits.host_tensors =
      name.starts_with("_foreach_") || name.starts_with("_fused_ad") ||
      name.starts_with("_fused_sgd") || name.starts_with("_ctc_loss") ||
      one_of(name, {"copy_", "index", "index_put", "index_put_", "_index_put_impl_",
                    "_unsafe_index", "_unsafe_index_put", "_pack_padded_sequence",
                    "_pack_padded_sequence_backward", "segment_reduce"});
  traits.host_result = name == "_pack_padded_sequence";
  traits.statistics = one_of(name, {"native_layer_norm", "native_group_norm", "native_batch_norm"});
  traits.sums_narrowly =
      traits.statistics || one_of(name, {"native_layer_norm_backward", "native_group_norm_backward",
                                         "native_batch_norm_backward", "embedding_dense_backward",
                                         "_convolution", "convolution_overrideable"});
  traits.product = one_of(name, {"mm", "addmm", "addmm_", "bmm", "baddbmm", "baddbmm_", "addmv",
                                 "addmv_", "dot", "vdot"});
  return traits;
}

} // namespace kernevo
