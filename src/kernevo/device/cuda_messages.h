// The conversation between the judge and a worker that drives a real GPU. Every message is a line
// of JSON; bytes may follow it.
#pragma once

#include "kernevo/device/cuda_facts.h"
#include "kernevo/device/gpu_telemetry.h"
#include "kernevo/device/messages.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// What the nursery's workers are told before anything else.
struct CudaSettings {
  std::string libcuda = "libcuda.so.1";
  std::string libnvml = "libnvidia-ml.so.1";
  std::map<std::string, std::string> environment; // for the libraries
  // What they may read beside the system's own libraries and devices.
  std::vector<std::string> readable;
  std::vector<std::string> libcupti = {}; // where it may be, the best first

  bool operator==(const CudaSettings&) const = default;
};

// Whose GPU number `ordinal` is to be used; it must be the one with this id, if one is given.
struct CudaOpenMessage {
  int ordinal = 0;
  std::string uuid;
};
struct CudaLoadMessage {
  std::string ptx;
  std::string file;
  std::string cubin; // empty: the driver compiles the PTX
  std::uint64_t memory_bytes = 0;
};
struct CudaLoadAnswer {
  std::optional<Finding> refusal;
  CodeForm loaded = CodeForm::ptx;
  int process = 0; // the worker's id, as NVML lists it
};
// Followed by the run, as a RunMessage.
struct CudaShotsMessage {
  bool cold = true;
  RunMessage run;
};
struct CudaShotsAnswer {
  std::string start; // how the stream is held until all is queued
  int sets = 1;      // of buffers, used in turns
};
struct CudaShotAnswer {
  std::optional<Finding> fault;
  double nanoseconds = 0; // 0 with a fault
};
// A part of a tensor of the shots: with bytes it is written, else read.
struct CudaPartMessage {
  std::size_t tensor = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

std::string encode(const CudaSettings& settings);
std::string encode(const CudaOpenMessage& message);
std::string encode(const CudaLoadMessage& message);
std::string encode(const CudaShotsMessage& message);
std::string encode_write(const CudaPartMessage& message, std::string_view bytes);
std::string encode_read(const CudaPartMessage& message);
std::string encode_word(const std::string& kind); // a message that is only its kind

Result<CudaSettings> decode_settings(std::string_view text);
Result<CudaOpenMessage> decode_cuda_open(std::string_view text);
Result<CudaLoadMessage> decode_cuda_load(std::string_view text);
Result<CudaShotsMessage> decode_shots(std::string_view text);
// The bytes are a part of the text.
Result<std::pair<CudaPartMessage, std::string_view>> decode_part(std::string_view text);

// Answers. Trouble travels as the error it is, and is quoted: the worker may be in the hands of
// others.
std::string encode(const Result<CudaListing>& answer);
std::string encode(const Result<CudaFacts>& answer);
std::string encode(const Result<CudaLoadAnswer>& answer);
std::string encode(const Result<CudaShotsAnswer>& answer);
std::string encode(const Result<CudaShotAnswer>& answer);
std::string encode(const Result<GpuTelemetry>& answer);
std::string encode_outcome(const Result<RunOutcome>& answer);
std::string encode_bytes(const Result<std::string>& answer); // also of what says nothing but "done"

Result<CudaListing> decode_listing(std::string_view text);
Result<CudaFacts> decode_facts(std::string_view text);
Result<CudaLoadAnswer> decode_load_answer(std::string_view text);
Result<CudaShotsAnswer> decode_shots_answer(std::string_view text);
Result<CudaShotAnswer> decode_shot_answer(std::string_view text);
Result<GpuTelemetry> decode_telemetry(std::string_view text);
Result<RunOutcome> decode_cuda_outcome(std::string_view text);
Result<std::string> decode_bytes(std::string_view text);

} // namespace kernevo
