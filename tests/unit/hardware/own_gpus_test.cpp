// GPUs that a user keeps files of.
#include "kernevo/hardware/own_gpus.h"

#include "kernevo/base/files.h"
#include "kernevo/hardware/gpu_table.h"
#include "test_folder.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class OwnGpus : public testing::Test {
protected:
  void SetUp() override {
    a100_ = read_text_file(share_folder().value() / "gpus" / "a100.yaml").value();
    setenv("KERNEVO_GPUS", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    unsetenv("KERNEVO_GPUS");
    unsetenv("XDG_CONFIG_HOME");
  }
  void write(const std::string& file, const std::string& name, const std::string& aliases,
             const std::string& dram = "1234") {
    std::string text = a100_;
    const auto put = [&](const std::string& from, const std::string& to) {
      const std::size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      text.replace(at, text.find('\n', at) - at, to);
    };
    put("name: A100", "name: " + name);
    put("aliases:", "aliases: " + aliases);
    put("dram_gbps:", "dram_gbps: " + dram);
    ASSERT_TRUE(write_file_atomically(fs::path(folder_.path()) / file, text));
  }

  const TestFolder folder_;
  std::string a100_;
};

TEST_F(OwnGpus, AreFoundBesideTheListedOnes) {
  const std::size_t listed = load_gpus().value().size();
  write("mine.yaml", "Mine 9000", "[\"M9\"]");
  EXPECT_EQ(load_gpus().value().size(), listed + 1);
  EXPECT_EQ(find_gpu("mine-9000").value().dram_gbps, 1234);
  EXPECT_EQ(find_gpu("m9").value().name, "Mine 9000");
  const auto own = own_gpus();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->at("Mine 9000").filename(), "mine.yaml");
}

TEST_F(OwnGpus, StandForListedOnesOfTheSameName) {
  const std::size_t listed = load_gpus().value().size();
  write("mine.yaml", "A100", "[]");
  EXPECT_EQ(load_gpus().value().size(), listed);
  EXPECT_EQ(find_gpu("A100").value().dram_gbps, 1234);
}

TEST_F(OwnGpus, TwoOfThemMayNotShareAName) {
  write("a.yaml", "Mine", "[]");
  write("b.yaml", "Other", "[\"mine\"]");
  const auto gpus = load_gpus();
  ASSERT_FALSE(gpus);
  EXPECT_THAT(format_error(gpus.error()), HasSubstr("b.yaml:1: the name 'mine' already belongs"));
}

TEST_F(OwnGpus, ABadFileIsNamedWithItsLine) {
  write("bad.yaml", "Mine", "[]", "fast");
  const auto gpus = load_gpus();
  ASSERT_FALSE(gpus);
  EXPECT_THAT(format_error(gpus.error()), HasSubstr("bad.yaml:25:"));
}

TEST_F(OwnGpus, LieWhereTheSettingsSay) {
  setenv("KERNEVO_GPUS", "/nowhere/at/all", 1);
  const auto gpus = load_gpus();
  ASSERT_FALSE(gpus);
  EXPECT_THAT(format_error(gpus.error()),
              HasSubstr("/nowhere/at/all: KERNEVO_GPUS names no folder"));
  unsetenv("KERNEVO_GPUS");
  setenv("XDG_CONFIG_HOME", "/nowhere/config", 1);
  EXPECT_EQ(own_gpu_folder(), "/nowhere/config/kernevo/gpus");
  EXPECT_TRUE(load_gpus()) << "a folder that nobody named need not be there";
}

TEST_F(OwnGpus, AWorkerIsToldWhere) {
  const std::string places = table_places() + "what follows";
  setenv("KERNEVO_GPUS", "/elsewhere", 1);
  const std::size_t end = use_table_places(places);
  EXPECT_EQ(places.substr(end), "what follows");
  EXPECT_EQ(own_gpu_folder(), fs::absolute(folder_.path()));
  EXPECT_EQ(use_table_places("neither"), 0U);
}

} // namespace
} // namespace kernevo
