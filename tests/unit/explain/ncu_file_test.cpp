#include "kernevo/explain/ncu_file.h"

#include "kernevo/base/random.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

const std::set<std::string> kWanted = {"gpu__time_duration.sum", "dram__bytes.sum",
                                       "smsp__inst_executed.sum",
                                       "dram__throughput.avg.pct_of_peak_sustained_elapsed"};

constexpr const char* kWide =
    "loading data, \"quoted\n"
    "==PROF== Connected to process 4711 (/home/me/program)\n"
    "==PROF== Disconnected from process 4711\n"
    R"csv("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","launch__registers_per_thread","smsp__inst_executed.sum"
"","","","","","","","","","","","Mbyte","%","usecond","register/thread","inst"
"0","4711","program","127.0.0.1","void ns::matmul<(int)16, float>(const T2 *, T2 *)","1","7","(16, 16, 1)","(8, 4, 1)","0","8.0","1.5","61.25","1,234.5","32","1,234,567"
"1","4711","program","127.0.0.1","finish(float *, int)","1","7","(256, 1, 1)","(1, 1, 1)","0","8.0","0.001","n/a","2","16","8"
)csv";

std::vector<NcuLaunch> parse(const std::string& text) {
  auto read = parse_ncu(text, "counters.csv", kWanted);
  EXPECT_TRUE(read) << (read ? "" : format_error(read.error()));
  return read ? std::move(*read) : std::vector<NcuLaunch>();
}

std::string error_of(const std::string& text) {
  const auto read = parse_ncu(text, "counters.csv", kWanted);
  EXPECT_FALSE(read);
  return read ? "" : format_error(read.error());
}

// A wide table of one launch with one counter.
std::string table_with(const std::string& counter, const std::string& unit,
                       const std::string& value) {
  return fmt::format("\"ID\",\"Kernel Name\",\"{}\"\n\"\",\"\",\"{}\"\n\"0\",\"k\",\"{}\"\n",
                     counter, unit, value);
}

TEST(NcuFile, reads_a_line_for_each_launch) {
  const auto launches = parse(kWide);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].readings.kernel, "matmul");
  EXPECT_EQ(launches[0].line, 6);
  EXPECT_EQ(launches[0].block, (std::array<std::uint32_t, 3>{16, 16, 1}));
  EXPECT_EQ(launches[0].grid, (std::array<std::uint32_t, 3>{8, 4, 1}));
  EXPECT_EQ(launches[0].compute_capability, 80);
  EXPECT_EQ(
      launches[0].readings.values,
      (std::map<std::string, double>{{"dram__bytes.sum", 1.5e6},
                                     {"dram__throughput.avg.pct_of_peak_sustained_elapsed", 61.25},
                                     {"gpu__time_duration.sum", 1234500},
                                     {"smsp__inst_executed.sum", 1234567}}));
  EXPECT_EQ(launches[1].readings.kernel, "finish");
  EXPECT_EQ(launches[1].readings.values.count("dram__throughput.avg.pct_of_peak_sustained_elapsed"),
            0U)
      << "n/a is no reading";
}

constexpr const char* kLong =
    R"csv("ID","Process ID","Kernel Name","Block Size","Grid Size","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","k(float *)","(32, 1, 1)","(2, 1, 1)","9.0","Command line profiler metrics","dram__bytes.sum","Kbyte","2.5"
"0","7","k(float *)","(32, 1, 1)","(2, 1, 1)","9.0","Command line profiler metrics","gpu__time_duration.sum","ms","0.25"
"0","7","k(float *)","(32, 1, 1)","(2, 1, 1)","9.0","Other","Threads","thread","64"
"1","7","k(float *)","(32, 1, 1)","(2, 1, 1)","9.0","Command line profiler metrics","gpu__time_duration.sum","second","1e-6"
)csv";

TEST(NcuFile, reads_a_line_for_each_metric) {
  const auto launches = parse(kLong);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].readings.values,
            (std::map<std::string, double>{{"dram__bytes.sum", 2500},
                                           {"gpu__time_duration.sum", 250000}}));
  EXPECT_DOUBLE_EQ(launches[1].readings.values.at("gpu__time_duration.sum"), 1000);
  EXPECT_EQ(launches[1].line, 5);
}

TEST(NcuFile, a_table_needs_no_row_of_units_and_no_line_ends_of_unix) {
  const auto launches = parse("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\r\n"
                              "\"0\",\"k\",\"17\"\r\n"
                              "\"1\",\"k\",\"18\"");
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].readings.values.at("gpu__time_duration.sum"), 17);
}

TEST(NcuFile, every_number_comes_back_as_it_was_written) {
  const CounterRandom random(5);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto whole = static_cast<std::uint64_t>(random.uniform(2 * i) * 1e12);
    std::string text = std::to_string(whole);
    if (random.uniform(2 * i + 1) < 0.5)
      for (std::size_t at = text.size(); at > 3;)
        text.insert(at -= 3, ",");
    if (text.front() == ',')
      continue;
    const auto launches = parse(table_with("smsp__inst_executed.sum", "inst", text + ".25"));
    ASSERT_EQ(launches.size(), 1U);
    EXPECT_DOUBLE_EQ(launches[0].readings.values.at("smsp__inst_executed.sum"),
                     static_cast<double>(whole) + 0.25)
        << text;
  }
}

TEST(NcuFile, what_is_no_english_number_is_refused) {
  for (const char* value : {"65,77", "27.595.520", "1,2345", ",123", "1,234,56", "12,", "1e", "abc",
                            "0x10", "1 234", "--1", "inf", "1,23.4"})
    EXPECT_NE(error_of(table_with("smsp__inst_executed.sum", "inst", value))
                  .find("counters.csv:3: smsp__inst_executed.sum is '" + std::string(value) + "'"),
              std::string::npos)
        << value;
  EXPECT_NE(error_of(table_with("smsp__inst_executed.sum", "inst", "-4")).find("less than nothing"),
            std::string::npos);
}

TEST(NcuFile, a_unit_must_fit_its_counter) {
  for (const auto& [counter, unit] : std::initializer_list<std::pair<const char*, const char*>>{
           {"gpu__time_duration.sum", "byte"},
           {"gpu__time_duration.sum", "cycle"},
           {"dram__bytes.sum", "usecond"},
           {"dram__bytes.sum", "Gbyte/second"},
           {"dram__bytes.sum", "sector"},
           {"smsp__inst_executed.sum", "Mbyte"},
           {"smsp__inst_executed.sum", "%"},
           {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "inst"}})
    EXPECT_NE(error_of(table_with(counter, unit, "1")).find("which is no unit of it"),
              std::string::npos)
        << counter << " in " << unit;
}

TEST(NcuFile, what_is_no_table_of_nsight_compute_says_so) {
  EXPECT_EQ(error_of("").substr(0, 12), "counters.csv");
  EXPECT_NE(error_of("a,b\n1,2\n").find("no line names the column 'Kernel Name'"),
            std::string::npos);
  EXPECT_NE(error_of("\"ID\",\"Kernel Name\"\n").find("counters.csv:1: holds no launch"),
            std::string::npos);
  EXPECT_NE(error_of("\"ID\",\"Kernel Name\"\n\"0\",\"k\",\"1\"\n")
                .find("counters.csv:2: has 3 fields where the table has 2 columns"),
            std::string::npos);
  EXPECT_NE(error_of("\"ID\",\"Kernel Name\"\n\"0\",\"k\n").find("counters.csv:2: has a quote"),
            std::string::npos);
  EXPECT_NE(error_of("\"ID\",\"Kernel Name\"\n\"0\",\"k\"x\n").find("counters.csv:2: has a quote"),
            std::string::npos);
  EXPECT_NE(error_of("\"ID\",\"Kernel Name\",\"Metric Name\"\n").find("none for the values"),
            std::string::npos);
  EXPECT_NE(
      error_of("\"ID\",\"Kernel Name\"\n\"0\",\"(\"\n").find("counters.csv:2: names no kernel"),
      std::string::npos);
}

// Whatever bytes come: an answer or an error with a line, never a crash.
TEST(NcuFile, damaged_files_are_read_or_refused) {
  const CounterRandom random(11);
  const std::string whole = kWide;
  std::uint64_t draw = 0;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (int change = 0; change < 3; ++change) {
      const auto at = static_cast<std::size_t>(random.uniform(draw++) * double(text.size()));
      const double kind = random.uniform(draw++);
      if (kind < 0.4)
        text[at] = static_cast<char>(random.uniform(draw++) * 256);
      else if (kind < 0.7)
        text.erase(at, 1 + static_cast<std::size_t>(random.uniform(draw++) * 20));
      else
        text.insert(at, text.substr(at / 2, 10));
    }
    const auto read = parse_ncu(text, "counters.csv", kWanted);
    if (read) {
      EXPECT_FALSE(read->empty());
    } else {
      ++refused;
      EXPECT_EQ(read.error().place->file, "counters.csv");
      EXPECT_FALSE(read.error().fix.empty());
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(NcuFile, a_kernel_has_its_bare_name) {
  EXPECT_EQ(bare_kernel_name("matmul"), "matmul");
  EXPECT_EQ(bare_kernel_name("matmul(float *, int)"), "matmul");
  EXPECT_EQ(bare_kernel_name("void a::b::matmul<(int)16, c::d<float>>(const float *)"), "matmul");
  EXPECT_EQ(bare_kernel_name("(anonymous namespace)::k(int)"), "k");
  EXPECT_EQ(bare_kernel_name("matmul<16, 8>"), "matmul");
  EXPECT_EQ(bare_kernel_name(""), "");
}

} // namespace
} // namespace kernevo
