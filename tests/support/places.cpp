#include "places.h"

namespace kernevo {

std::string source_folder() {
  return KERNEVO_SOURCE_DIR;
}

std::string test_folder(const std::string& name) {
  return source_folder() + "/tests/" + name;
}

std::string program_path() {
  return KERNEVO_PROGRAM;
}

std::string cudart_path() {
  return KERNEVO_CUDART;
}

std::string libcuda_path() {
  return KERNEVO_DRIVER;
}

std::string libnvml_path() {
  return KERNEVO_NVML;
}

} // namespace kernevo
