// Architectures: what a module's .target promises, what an instruction asks for, and which GPUs
// have it.
#pragma once

#include "kernevo/model/gpu.h"

#include <optional>
#include <string>
#include <string_view>

namespace kernevo::ptx {

// The newest PTX this reader knows: what Triton 3.9 writes. CUDA 13.2 writes 9.2.
inline constexpr int kNewestPtx = 94;

// Thread-block clusters and what belongs to them.
inline constexpr int kFirstWithClusters = 90;

struct Target {
  int sm = 0;
  char suffix = 0; // 'a' = this architecture only, 'f' = its family, 0 = it and all newer ones
  int ptx = 0;     // 78 = 7.8
};

// "sm_90a" -> {90, 'a'}; nothing when it is no such name.
std::optional<Target> parse_target(std::string_view name);
std::string name_of(const Target& target);
// The least PTX version in which the target exists; 0 for those older than all that matter.
int first_ptx_of(const Target& target);

// `architectures` is a list such as "90a 100f": of them, is one had by the target? sm_103a has all
// of 100f, the family.
bool has_any(const Target& target, std::string_view architectures);

// "sm_90a or sm_100f (H100, H200, B200)"; "sm_90 or newer (H100, ...)" when the list is empty.
std::string needed_text(std::string_view architectures, int sm);

// Why a module for this target cannot run on the GPU; nothing when it can.
std::optional<std::string> why_not_on(const Target& target, const Gpu& gpu);

} // namespace kernevo::ptx
