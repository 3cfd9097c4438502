// What the library has to say to whoever runs the program: lines on the standard error.
#pragma once

#include <string>

namespace kernevo::cuda {

// "kernevo: TEXT"
void notice(const std::string& text);

} // namespace kernevo::cuda
