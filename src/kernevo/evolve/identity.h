// What a kernel is, apart from how it is written.
#pragma once

#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/build.h"
#include "kernevo/model/search_records.h"

#include <string>

namespace kernevo::evolve {

// Of a structure: its default instance and the parameters it can be tuned in.
std::string structure_identity(const std::string& default_instance, const KernelFile& kernel);

// What the code shows of how it works. Launch facts (registers, occupancy) are left to the caller.
KernelFacts code_facts(std::string_view ptx);

} // namespace kernevo::evolve
