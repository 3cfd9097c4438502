// Several PTX modules as one, as the device linker joins the translation units of a program.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/ptx/module.h"

#include <vector>

namespace kernevo::ptx {

// Names are matched by their linkage: a definition takes the place of .extern declarations, the
// first of several .weak definitions stays, what is local to a module stays apart. An error names
// a symbol that two modules define. What no module defines is left as a declaration.
Result<Module> link(std::vector<Module> modules);

} // namespace kernevo::ptx
