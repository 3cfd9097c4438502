// Messages to and from a worker that drives a GPU: what one side says the other reads, and what
// nobody says is refused.
#include "kernevo/device/cuda_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

CudaFacts facts() {
  CudaFacts facts;
  facts.ordinal = 1;
  facts.name = "NVIDIA H100 PCIe MIG 1g.10gb";
  facts.uuid = "MIG-0123";
  facts.bus = "0000:3b:00.0";
  facts.driver_version = 13020;
  facts.compute_capability = 90;
  facts.memory = Bytes{10'000'000'000};
  facts.multiprocessors = 16;
  facts.memory_bus_bits = 512;
  return facts;
}

TEST(CudaMessages, GoThereAndBack) {
  const CudaSettings settings{"/lib/libcuda.so.1", "x", {{"CUDA_VISIBLE_DEVICES", "0"}}, {"/opt"}};
  EXPECT_EQ(decode_settings(encode(settings)).value(), settings);
  EXPECT_EQ(decode_facts(encode(Result<CudaFacts>(facts()))).value(), facts());
  const CudaListing listing{13020, "virtual A100", {facts(), facts()}};
  const auto read = decode_listing(encode(Result<CudaListing>(listing)));
  ASSERT_TRUE(read) << format_error(read.error());
  EXPECT_EQ(read->gpus, listing.gpus);
  EXPECT_EQ(read->stand_in, "virtual A100");

  const std::string cubin("\x7f"
                          "ELF\n\0\xff",
                          7);
  const auto load = decode_cuda_load(encode(CudaLoadMessage{"ptx\n", "k.cu", cubin, 5}));
  ASSERT_TRUE(load);
  EXPECT_EQ(load->ptx, "ptx\n");
  EXPECT_EQ(load->cubin, cubin);
  EXPECT_EQ(load->memory_bytes, 5U);

  const auto part = decode_part(encode_write({2, 8, 3}, "a\nb"));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->first.tensor, 2U);
  EXPECT_EQ(part->second, "a\nb");
  EXPECT_EQ(decode_bytes(encode_bytes(std::string("x\ny"))).value(), "x\ny");
}

TEST(CudaMessages, TelemetryKeepsWhatIsNotKnown) {
  GpuTelemetry now;
  now.driver = "580.65.06";
  now.watts = 300.5;
  now.reasons = 0x20;
  now.processes = {{{4711, std::nullopt, "python"}, {12, 30, ""}}};
  EXPECT_EQ(decode_telemetry(encode(Result<GpuTelemetry>(now))).value(), now);
  EXPECT_EQ(decode_telemetry(encode(Result<GpuTelemetry>(GpuTelemetry{}))).value(), GpuTelemetry{});
}

TEST(CudaMessages, TroubleTravelsWithItsKindAndItsFix) {
  for (const ErrorCode code :
       {ErrorCode::infrastructure, ErrorCode::unavailable, ErrorCode::unsupported}) {
    const Result<CudaShotAnswer> trouble =
        fail(code, "cuda:0 is \x1b[2Jlost", std::nullopt, "look at it");
    const auto read = decode_shot_answer(encode(trouble));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, code);
    EXPECT_EQ(read.error().message, "cuda:0 is \\x1b[2Jlost");
    EXPECT_EQ(read.error().fix, "look at it");
  }
}

TEST(CudaMessages, WhatNoWorkerSaysIsTroubleOfTheMachine) {
  const std::string shot = encode(Result<CudaShotAnswer>(CudaShotAnswer{std::nullopt, 12.5}));
  ASSERT_EQ(decode_shot_answer(shot).value().nanoseconds, 12.5);
  for (const char* time : {"-1", "1e999", "null", "\"12\"", "[]"}) {
    const auto read = decode_shot_answer(with(shot, "12.5", time));
    ASSERT_FALSE(read) << time;
    EXPECT_EQ(read.error().code, ErrorCode::infrastructure);
  }
  EXPECT_FALSE(decode_shot_answer(with(shot, "\"fault\"", "\"more\":1,\"fault\"")));
  EXPECT_FALSE(decode_shot_answer(""));
  EXPECT_FALSE(decode_facts("[]\n"));
  EXPECT_FALSE(decode_facts(std::string(100'000, '[')));
  const std::string told = encode(Result<CudaFacts>(facts()));
  EXPECT_FALSE(decode_facts(with(told, "\"multiprocessors\":16", "\"multiprocessors\":-16")));
  EXPECT_FALSE(decode_facts(with(told, "\"ordinal\":1", "\"ordinal\":1,\"extra\":2")));
  const std::string bytes = encode_bytes(std::string("abc"));
  EXPECT_FALSE(decode_bytes(bytes.substr(0, bytes.size() - 1)));
  EXPECT_FALSE(decode_bytes(bytes + "d"));
}

TEST(CudaMessages, NamesOfADriverMoveNoCursor) {
  CudaFacts odd = facts();
  odd.name = "GPU\r\033[1A\nCORRECT";
  EXPECT_EQ(decode_facts(encode(Result<CudaFacts>(odd))).value().name, "GPU\\r\\x1b[1A\\nCORRECT");
}

} // namespace
} // namespace kernevo
