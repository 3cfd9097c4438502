// The folder a command finds: what is wanted in request.md and request.json, the kernels it is
// about, and the place for the answer.
#pragma once

#include "kernevo/propose/proposer.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kernevo::propose {

inline constexpr const char* kAnswerFile = "kernel.cu";

// `failed` is the answer to repair, or null.
Result<void> fill_command_folder(const std::filesystem::path& folder,
                                 const ProposalRequest& request, const FailedAttempt* failed,
                                 const std::string& text);

// The user's own environment and where everything is.
std::vector<std::string> command_environment(const std::filesystem::path& folder,
                                             const ProposalRequest& request);

// The kernel the command left, or nothing.
Result<std::optional<std::string>> read_command_answer(const std::filesystem::path& folder);

// request.md: what is wanted, what was wrong with the last answer, and where the next one goes.
std::string command_request(const std::string& text, const FailedAttempt* failed);

} // namespace kernevo::propose
