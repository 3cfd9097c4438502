// kernevo profile through the real program.
#include "run_program.h"

#include "kernevo/model/bottleneck.h"
#include "toolchain_test.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

const std::string kExamples = source_folder() + "/examples/";

SubprocessResult profile(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "profile");
  return run_program(program_path(), arguments);
}

class Profile : public KernelTest {};

TEST_F(Profile, tells_a_person_what_and_where) {
  const auto run = profile({kExamples + "bottlenecks/uncoalesced/task.yaml",
                            kExamples + "bottlenecks/uncoalesced/before.cu"});
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  for (const char* words :
       {"modelled", "roofline", "bounds", "counters", "source lines", "findings", "uncoalesced",
        "coalesce: ", "before.cu:8", "16.5 sectors per request (ideal 2.5)",
        "sum += A[row * K + k] * B[k * N + col];", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "fp32"})
    EXPECT_NE(run.output.find(words), std::string::npos) << words << " is not in\n" << run.output;
}

TEST_F(Profile, gives_programs_everything) {
  const auto run = profile({kExamples + "matmul/task.yaml", kExamples + "matmul/tiled.cu", "--json",
                            "-p", "TILE=16", "--gpu", "T4"});
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  const auto json = nlohmann::json::parse(run.output);
  EXPECT_EQ(json.at("device"), "virtual:T4");
  EXPECT_EQ(json.at("parameters").at("TILE"), 16);
  const auto& launch = json.at("cases").at(0).at("launches").at(0);
  EXPECT_GT(launch.at("time_ns").get<double>(), 0);
  EXPECT_DOUBLE_EQ(launch.at("metrics").at("bank_conflict_factor").at("value"), 1);
  EXPECT_DOUBLE_EQ(launch.at("roofline").at("operations"), 2.0 * 256 * 256 * 256);
  EXPECT_FALSE(launch.at("source_lines").empty());
  EXPECT_GT(launch.at("counters").at("values").at("ptx__barriers.sum").at("value"), 0);
  const auto record = bottleneck_from_json(launch.at("bottleneck").dump());
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->trace.size(), static_cast<std::size_t>(kBottleneckTags));
}

TEST_F(Profile, says_the_same_every_time) {
  const std::vector<std::string> arguments = {
      kExamples + "softmax/task.yaml", kExamples + "softmax/online.cu", "--seed", "7", "--json"};
  const auto first = profile(arguments);
  ASSERT_EQ(first.exit_status, 0) << first.error_output;
  EXPECT_EQ(first.output, profile(arguments).output);
}

TEST_F(Profile, explains_no_wrong_kernel) {
  const auto run = profile({kExamples + "matmul/task.yaml", kExamples + "matmul/tiled_race.cu"});
  EXPECT_EQ(run.exit_status, 1) << run.error_output;
  EXPECT_NE(run.output.find("race"), std::string::npos) << run.output;
}

} // namespace
} // namespace kernevo
