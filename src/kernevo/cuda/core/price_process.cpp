#include "kernevo/cuda/core/price_process.h"

#include "kernevo/base/detached_program.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace kernevo::cuda {
namespace fs = std::filesystem;

namespace {

// Assembling and disassembling one module may take two minutes each before they are given up.
constexpr auto kLongestAnswer = std::chrono::seconds(300);
constexpr int kMostStarts = 2;

// Nothing else of the program's environment is for the worker: it must not load the libraries this
// one stands in for.
constexpr std::array<const char*, 12> kPassedOn = {"KERNEVO_CUDA",
                                                   "KERNEVO_COMPILER",
                                                   "KERNEVO_FILE_LAYER",
                                                   "KERNEVO_CACHE",
                                                   "KERNEVO_SHARE",
                                                   "KERNEVO_GPUS",
                                                   "XDG_CONFIG_HOME",
                                                   "CUDA_HOME",
                                                   "PATH",
                                                   "HOME",
                                                   "XDG_CACHE_HOME",
                                                   "TMPDIR"};

std::vector<std::string> passed_on() {
  std::vector<std::string> environment;
  for (const char* name : kPassedOn)
    if (const char* value = std::getenv(name))
      environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

// $KERNEVO_PROGRAM, or the program this library was built or installed with.
Result<std::string> find_program() {
  if (const char* named = std::getenv("KERNEVO_PROGRAM"); named != nullptr && *named != '\0')
    return std::string(named);
  Dl_info ours{};
  std::string looked;
  if (dladdr(reinterpret_cast<void*>(&find_program), &ours) != 0 && ours.dli_fname != nullptr) {
    std::error_code ignored;
    const fs::path folder = fs::weakly_canonical(ours.dli_fname, ignored).parent_path();
    // Beside it, above build/cuda, and bin/ of the prefix above lib/kernevo/cuda.
    for (const char* place : {"kernevo", "../kernevo", "../../../bin/kernevo"}) {
      const fs::path program = (folder / place).lexically_normal();
      if (access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program, ignored))
        return program.string();
    }
    looked = folder.string();
  }
  return fail(ErrorCode::infrastructure,
              fmt::format("there is no program 'kernevo' near '{}'", looked), std::nullopt,
              "KERNEVO_PROGRAM names it");
}

} // namespace

Result<void> PriceProcess::start() {
  const std::lock_guard lock(mutex_);
  return start_locked();
}

Result<void> PriceProcess::start_locked() {
  if (channel_.valid())
    return {};
  if (starts_ == kMostStarts)
    return fail(ErrorCode::infrastructure, "the price worker has died twice");
  ++starts_;
  sent_.clear();
  KERNEVO_TRY(program, find_program());
  KERNEVO_TRY(channel, start_detached(program, {"kernevo", "__worker", "price"}, passed_on()));
  channel_ = std::move(channel);
  PriceRequest open;
  open.gpu = gpu_;
  auto answer = ask(open);
  if (!answer)
    return fail(ErrorCode::infrastructure, fmt::format("'{}' does not start", program));
  if (answer->error) {
    channel_.reset();
    return tl::unexpected<Error>(*answer->error);
  }
  return {};
}

Result<PriceAnswer> PriceProcess::ask(const PriceRequest& request) {
  Message message;
  const bool answered =
      send_message(channel_.get(), to_json(request)) &&
      receive_message(channel_.get(), message, std::chrono::steady_clock::now() + kLongestAnswer) ==
          MessageEnd::complete;
  auto answer = answered ? price_answer_from_json(message.text)
                         : fail(ErrorCode::infrastructure, "the price worker gives no answer");
  if (!answer)
    channel_.reset(); // it is of no use any more, and ends when its channel closes
  return answer;
}

Result<PriceAnswer> PriceProcess::ask_of_module(std::uint64_t module,
                                                const std::vector<std::string>& texts,
                                                PriceRequest request) {
  const std::lock_guard lock(mutex_);
  KERNEVO_CHECK(start_locked());
  if (!sent_.contains(module)) {
    PriceRequest send;
    send.kind = PriceRequest::Kind::module;
    send.module = module;
    send.texts = texts;
    KERNEVO_TRY(taken, ask(send));
    if (taken.error)
      return tl::unexpected<Error>(*taken.error);
    sent_.insert(module);
  }
  request.module = module;
  KERNEVO_TRY(answer, ask(request));
  if (answer.error)
    return tl::unexpected<Error>(*answer.error);
  return std::move(answer);
}

Result<LaunchPrice> PriceProcess::price(std::uint64_t module, const std::vector<std::string>& texts,
                                        const std::string& kernel, const LaunchCounts& counts,
                                        bool metrics) {
  PriceRequest launch;
  launch.kind = PriceRequest::Kind::launch;
  launch.kernel = kernel;
  launch.counts = counts;
  launch.metrics = metrics;
  KERNEVO_TRY(answer, ask_of_module(module, texts, std::move(launch)));
  if (!answer.price)
    return fail(ErrorCode::infrastructure, "the price worker names no price");
  return std::move(*answer.price);
}

Result<AssembledKernel> PriceProcess::kernel(std::uint64_t module,
                                             const std::vector<std::string>& texts,
                                             const std::string& kernel) {
  PriceRequest of;
  of.kind = PriceRequest::Kind::kernel;
  of.kernel = kernel;
  KERNEVO_TRY(answer, ask_of_module(module, texts, std::move(of)));
  if (!answer.kernel)
    return fail(ErrorCode::infrastructure, "the price worker names no registers");
  return *answer.kernel;
}

} // namespace kernevo::cuda
