// Kernel sources with holes: what the catalogue knows of an operation is put in, so that one text
// serves every type, every activation and every layout of a family.
#pragma once

#include "kernevo/base/text_template.h"
#include "kernevo/model/task.h"

#include <string>

namespace kernevo {

// What a template may ask for (docs/playbook.md lists it). `kernel` names the kernel function.
Result<TemplateContext> template_context(const std::string& operation, DType dtype,
                                         const std::string& kernel);

} // namespace kernevo
