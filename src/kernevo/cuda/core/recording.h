// Writes down what is given to the streams of this process, for a process that does the same again
// with other inputs: one line of JSON per operation in <folder>/trace.jsonl, and bytes in
// trace.data. Between open() and close() work is done at once, in the order of the calls and under
// the session's lock, so that a trace depends on nothing but the program.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/cuda/core/memory.h"
#include "kernevo/cuda/core/session.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kernevo::cuda {

// What is executed of the work that is given to streams.
enum class Execution : unsigned {
  all = 0,
  none = 1,   // nothing that writes memory of the device, but for what comes from the host
  priced = 2, // of launches the blocks that are counted
};

class Recording {
public:
  static Recording& get();
  static bool is_on() { return (state_.load(std::memory_order_relaxed) & 1U) != 0; }
  static Execution execution() {
    return static_cast<Execution>(state_.load(std::memory_order_relaxed) >> 1U);
  }
  static void set_execution(Execution execution);
  // Small fills and copies are always done: sizes and counters stay what they are.
  static bool does(std::uint64_t bytes);

  Result<void> open(const std::string& folder);
  Result<void> close();
  // Bytes of the device's that the program has read since open().
  std::uint64_t read_back() const { return read_back_; }

  // Where the work of this thread belongs until the end of the scope.
  class Scope {
  public:
    explicit Scope(std::uint64_t stream);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    std::uint64_t before_;
    bool inside_before_;
  };
  // What this thread does until the end of the scope is part of what was written already.
  class Quiet {
  public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    bool before_;
  };

  // The number of a stream in the trace.
  std::uint64_t number_of(const CUstream_st& stream);
  static std::uint64_t current();

  void allocated(std::uint64_t address, std::uint64_t bytes, cudaMemoryType type);
  void freed(std::uint64_t address);
  void launch(const PreparedLaunch& launch);
  void copy(Plane to, Plane from, std::uint64_t width, std::uint64_t height);
  void fill(Plane to, unsigned value, std::uint64_t element, std::uint64_t width,
            std::uint64_t height);
  // `fields` of an object of JSON, written by who knows the operator.
  void call_operator(std::uint64_t stream, std::string_view fields);
  // The number of the point.
  std::uint64_t record(std::uint64_t stream);
  void wait(std::uint64_t stream, std::uint64_t point);
  // The host has waited: for a stream, for a point, for everything.
  void waited_for_stream(std::uint64_t stream);
  void waited_for_point(std::uint64_t point);
  void waited_for_all();
  void read(std::uint64_t bytes) { read_back_ += bytes; }
  // Something that cannot be done again. What is made before open() may be used after it.
  void refuse(std::string_view what);
  // A stream of this number that nobody but the trace knows.
  std::uint64_t own_stream(std::uint64_t index);

private:
  Recording() = default;
  bool writes() const;
  void line(std::string_view text);
  std::pair<std::uint64_t, std::uint64_t> data(std::span<const std::byte> bytes);
  std::uint64_t module_of(const PreparedLaunch& launch);
  void write_module(std::uint64_t number, const vgpu::Program& program,
                    const std::vector<std::string>& texts);

  static inline std::atomic<unsigned> state_ = 0;

  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Closer>;
  File lines_;
  File bytes_;
  std::uint64_t at_ = 0; // in bytes_
  std::uint64_t written_ = 0;
  bool too_long_ = false;
  std::atomic<std::uint64_t> read_back_ = 0;
  std::uint64_t points_ = 0;                       // never starts anew: events outlive a recording
  std::uint64_t points_before_ = 0;                // open()
  std::map<std::uint64_t, std::uint64_t> modules_; // of programs
  std::map<std::uint64_t, std::uint64_t> streams_; // of queues
  std::set<std::string> refused_;
};

} // namespace kernevo::cuda
