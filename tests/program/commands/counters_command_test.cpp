// kernevo profile with counters of hardware: from a file of Nsight Compute, and from the GPU.
#include "run_program.h"
#include "test_folder.h"

#include "toolchain_test.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTask =
    "op_name: add\nshapes: [[100000]]\ndtype: float32\ntarget_gpu: A100\n";
constexpr const char* kKernel =
    "// @launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)\n"
    "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < N) C[i] = A[i] + B[i];\n"
    "}\n";

class CountersCommand : public KernelTest {
protected:
  // As ncu writes it, of a launch that device memory keeps busy.
  std::string counters(const std::string& kernel, const std::string& grid, double dram) const {
    return folder_.write(
        "counters.csv",
        fmt::format(
            "==PROF== Connected to process 1\n"
            R"csv("ID","Kernel Name","Block Size","Grid Size","CC","gpu__time_duration.sum","smsp__issue_active.avg.pct_of_peak_sustained_elapsed","smsp__issue_inst0.avg.pct_of_peak_sustained_active","l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed","l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed","lts__throughput.avg.pct_of_peak_sustained_elapsed","dram__throughput.avg.pct_of_peak_sustained_elapsed","dram__bytes_read.sum","dram__bytes_write.sum"
"","","","","","usecond","%","%","%","%","%","%","Kbyte","Kbyte"
"0","{}","(256, 1, 1)","{}","8.0","2.5","3.5","55","12","14","35","{}","800.128","399.872"
)csv",
            kernel, grid, dram));
  }

  SubprocessResult profile(const std::vector<std::string>& more,
                           const std::map<std::string, std::string>& settings = {}) const {
    std::vector<std::string> arguments = {"profile", folder_.write("t.yaml", kTask),
                                          folder_.write("k.cu", kKernel)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(program_path(), arguments, settings);
  }
  std::map<std::string, std::string> on_our_driver(const std::string& faults = "") const {
    return {{"KERNEVO_LIBCUDA", libcuda_path()}, {"KERNEVO_CUDA_FAULTS", faults}};
  }

  const TestFolder folder_;
};

TEST_F(CountersCommand, AFileExplainsTheKernel) {
  const auto run =
      profile({"--counters", counters("add(const float *, const float *)", "(391, 1, 1)", 91.5)});
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("counted by counters.csv"), HasSubstr("dram_bound"),
                    HasSubstr("busy 92 % of the time, moving 1.20 MB"),
                    HasSubstr("counters.csv: share.dram, dram_bytes"),
                    HasSubstr("dram__bytes_read.sum"), HasSubstr("counters by the virtual GPU")));
}

TEST_F(CountersCommand, EveryMetricSaysWhereItComesFrom) {
  const auto run = profile({"--json", "--counters", counters("add", "(391, 1, 1)", 20)});
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  const auto json = nlohmann::json::parse(run.output);
  EXPECT_EQ(json.at("counted_by").at("origin"), "file");
  EXPECT_EQ(json.at("counted_by").at("source"), "counters.csv");
  const auto& launch = json.at("cases").at(0).at("launches").at(0);
  EXPECT_DOUBLE_EQ(launch.at("hardware_counters").at("dram__bytes_read.sum"), 800128);
  const auto& metrics = launch.at("metrics");
  EXPECT_DOUBLE_EQ(metrics.at("share.dram").at("value"), 0.2);
  EXPECT_DOUBLE_EQ(metrics.at("time").at("value"), 2500);
  const auto source = [&](const char* metric) { return metrics.at(metric).at("source").dump(); };
  EXPECT_EQ(source("share.dram"), R"(["counters.csv"])");
  EXPECT_EQ(source("excess_sector_fraction"), R"(["virtual GPU"])");
  EXPECT_EQ(source("flop_rate"), R"(["counters.csv","virtual GPU"])");
  EXPECT_EQ(source("blocks"), "[]");
  for (const auto& finding : launch.at("bottleneck").at("findings"))
    for (const auto& e : finding.at("evidence"))
      if (e.at("metric") == "share.dram") {
        EXPECT_EQ(e.at("source"), "counters.csv");
      }
}

TEST_F(CountersCommand, AFileThatDoesNotFitIsOneLine) {
  const auto expect_line = [&](const std::string& file, const std::vector<const char*>& words) {
    const auto run = profile({"--unchecked", "--counters", file});
    EXPECT_EQ(run.exit_status, 2) << run.output;
    EXPECT_EQ(std::count(run.error_output.begin(), run.error_output.end(), '\n'), 1)
        << run.error_output;
    for (const char* word : words)
      EXPECT_THAT(run.error_output, HasSubstr(word));
  };
  expect_line(folder_.path("none.csv"), {"none.csv", "cannot be read"});
  expect_line(folder_.write("other.csv", "a,b\n1,2\n"),
              {"other.csv: is no CSV of Nsight Compute", "ncu --csv --page raw"});
  expect_line(counters("sub", "(391, 1, 1)", 20),
              {"counters.csv: holds no launch of 'add', only of sub"});
  expect_line(counters("add", "(64, 1, 1)", 20),
              {"holds no launch of 'add' with grid (391, 1, 1)", "--case"});
  const auto wrong_gpu =
      profile({"--unchecked", "--gpu", "H100", "--counters", counters("add", "(391, 1, 1)", 20)});
  EXPECT_EQ(wrong_gpu.exit_status, 2);
  EXPECT_THAT(wrong_gpu.error_output,
              AllOf(HasSubstr("counters.csv:4:"), HasSubstr("compute capability 8.0")));
}

TEST_F(CountersCommand, AGpuCountsForItself) {
  if (libcuda_path().empty())
    GTEST_SKIP() << "our CUDA driver library is not built here";
  const auto run = profile({"--device", "cuda:0"}, on_our_driver());
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("counted by stand-in for cuda:0"), HasSubstr(" passes\n"),
                    HasSubstr("dram__bytes_read.sum"), Not(HasSubstr("gives no counters"))));
  const auto json =
      nlohmann::json::parse(profile({"--device", "cuda:0", "--json"}, on_our_driver()).output);
  EXPECT_EQ(json.at("counted_by").at("origin"), "stand_in");
  EXPECT_GT(json.at("counted_by").at("passes"), 1);
}

TEST_F(CountersCommand, WhereAGpuRefusesTheVirtualOneCounts) {
  if (libcuda_path().empty())
    GTEST_SKIP() << "our CUDA driver library is not built here";
  const auto run = profile({"--device", "cuda:0"}, on_our_driver("counters-refused"));
  ASSERT_EQ(run.exit_status, 0) << run.error_output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("cuda:0 gives no counters"), HasSubstr("ERR_NVGPUCTRPERM"),
                    HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"),
                    HasSubstr("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")));
  const auto json = nlohmann::json::parse(
      profile({"--device", "cuda:0", "--json"}, on_our_driver("counters-refused")).output);
  EXPECT_THAT(json.at("counted_by").at("refused").get<std::string>(),
              HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_FALSE(json.at("cases").at(0).at("launches").at(0).contains("hardware_counters"));
}

// What was read is in the journal: a replay needs no GPU that counts the same again.
TEST_F(CountersCommand, ASearchRestsOnThem) {
  if (libcuda_path().empty())
    GTEST_SKIP() << "our CUDA driver library is not built here";
  const std::string run = folder_.path("run");
  const auto search = run_program(program_path(),
                                  {"evolve", folder_.write("t.yaml", kTask), "--device", "cuda:0",
                                   "--rounds", "1", "--evaluations", "1", "--out", run},
                                  on_our_driver());
  ASSERT_LE(search.exit_status, 1) << search.error_output; // 1: nothing was better
  const auto shown = run_program(program_path(), {"show", run, "--why", "0", "--json"});
  ASSERT_EQ(shown.exit_status, 0) << shown.error_output;
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("\"stand-in for cuda:0\""), HasSubstr("\"virtual GPU\"")));
  const auto replayed =
      run_program(program_path(), {"replay", run}, on_our_driver("counters-refused"));
  EXPECT_EQ(replayed.exit_status, 0) << replayed.output << replayed.error_output;
}

} // namespace
} // namespace kernevo
