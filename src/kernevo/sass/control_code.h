#pragma once

#include "kernevo/sass/sass.h"

namespace kernevo::sass {

// From the upper half of an instruction's 128-bit encoding (sm_70 and newer).
ControlCode decode_control(std::uint64_t upper);

// "B--2--- R- W0 Y S04": waits, read barrier, write barrier, yield, stall.
std::string format_control(const ControlCode& control);

} // namespace kernevo::sass
