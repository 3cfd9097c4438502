// What a test needs of the machine.
#pragma once

#include <string>

namespace kernevo {

// The running test cannot run here: it is skipped, or fails where everything was promised to be
// there ($KERNEVO_TESTS_COMPLETE, which `make test` sets after the set-up). The caller returns.
void skip_for_want_of(const std::string& what);

} // namespace kernevo
