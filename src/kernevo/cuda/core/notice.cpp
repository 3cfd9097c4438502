#include "kernevo/cuda/core/notice.h"

#include <cstdio>

namespace kernevo::cuda {

void notice(const std::string& text) {
  std::fputs(("kernevo: " + text + "\n").c_str(), stderr); // one call: lines of threads do not mix
}

} // namespace kernevo::cuda
