#pragma once

#include <string>
#include <vector>

// As the compiler was given them last.
std::vector<std::string> fake_nvrtc_options();
