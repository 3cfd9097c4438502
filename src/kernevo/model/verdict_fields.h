// Parts of a build and of a verdict as parts of larger JSON records. Include only from .cpp files.
#pragma once

#include "kernevo/model/json_fields.h"
#include "kernevo/model/verdict.h"

#include <vector>

namespace kernevo {

// The readers throw the library's exceptions.
Json diagnostics_to_json(const std::vector<Diagnostic>& list);
std::vector<Diagnostic> diagnostics_at(const Json& json, const char* key);
Json resources_to_json(const KernelResources& resources);
KernelResources resources_of(const Json& json);
Json device_finding_to_json(const Finding& finding);
Finding device_finding_of(const Json& json);

} // namespace kernevo
