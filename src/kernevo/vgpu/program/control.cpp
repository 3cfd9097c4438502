#include "kernevo/vgpu/program/control.h"

#include <map>

namespace kernevo::vgpu {

RuntimeFunction runtime_function(std::string_view name) {
  using enum RuntimeFunction;
  static const std::map<std::string_view, RuntimeFunction> known = {
      {"vprintf", vprintf},
      {"__assertfail", assert_fail},
      {"__assert_fail", assert_fail},
      {"malloc", malloc},
      {"free", free},
      {"__cudaCDP2GetParameterBufferV2", get_parameter_buffer},
      {"__cudaCDP2LaunchDeviceV2", launch_device},
      {"__cudaCDP2LaunchDeviceV2_ptsz", launch_device},
      {"__cudaCDP2Malloc", device_malloc},
      {"__cudaCDP2Free", device_free},
      {"__cudaCDP2StreamCreateWithFlags", make_handle},
      {"__cudaCDP2EventCreateWithFlags", make_handle},
      {"__cudaCDP2GetDevice", get_device},
      {"__cudaCDP2MemcpyAsync", copy_async},
      {"__cudaCDP2MemcpyAsync_ptsz", copy_async},
      {"__cudaCDP2MemsetAsync", fill_async},
      {"__cudaCDP2MemsetAsync_ptsz", fill_async},
      {"cudaGraphSetConditional", set_condition},
      {"__cudaCDP2StreamDestroy", succeed},
      {"__cudaCDP2StreamWaitEvent", succeed},
      {"__cudaCDP2StreamWaitEvent_ptsz", succeed},
      {"__cudaCDP2EventDestroy", succeed},
      {"__cudaCDP2EventRecord", succeed},
      {"__cudaCDP2EventRecord_ptsz", succeed},
      {"__cudaCDP2EventRecordWithFlags", succeed},
      {"__cudaCDP2GetLastError", succeed},
      {"__cudaCDP2PeekAtLastError", succeed},
  };
  const auto found = known.find(name);
  return found == known.end() ? none : found->second;
}

} // namespace kernevo::vgpu
