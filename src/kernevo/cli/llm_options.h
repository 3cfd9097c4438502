// The options of a command that asks language models.
#pragma once

#include "kernevo/run/model_choice.h"

#include <set>
#include <string>

namespace kernevo::cli {

class CommandLine;

void add_llm_options(CommandLine& command, run::ModelChoice& choice);

// Of these a resumed run takes new ones: an endpoint may have moved.
extern const std::set<std::string> kLlmOptionsWhenResumed;

} // namespace kernevo::cli
