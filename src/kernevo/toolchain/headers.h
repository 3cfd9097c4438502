// Small stand-ins for host headers NVRTC has not got. They make ordinary CUDA sources compile
// (<stdint.h>, <cfloat>, <algorithm>) without a second spent on reading libcu++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct VirtualHeader {
  std::string name;
  std::string text;
};

const std::vector<VirtualHeader>& virtual_headers();
bool is_virtual_header(std::string_view name);

// The one that holds namespace std.
inline constexpr std::string_view kStandardHeader = "kernevo/std";

} // namespace kernevo
