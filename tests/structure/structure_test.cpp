// The one-way order of the folders, for includes and for links, and the doors of heavy headers.
#include "source_tree.h"

#include "kernevo/base/files.h"
#include "kernevo/base/temporary_folder.h"
#include "places.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::structure {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kSource = source_folder();

// Each heavy header has the files that may pay for it.
const std::vector<Door> kDoors = {
    {"CLI/", {".cpp"}},
    {"nlohmann/json.hpp", {".cpp", "model/json_fields.h"}},
    {"kernevo/model/json_fields.h", {".cpp", "_fields.h", "/json_text.h", "/agent_answer.h"}},
    {"llvm/", {"jit/"}},
    {"yaml-cpp/",
     {"hardware/gpu_table.cpp", "hardware/architecture_table.cpp", "task/yaml_tree.cpp"}},
    {"sqlite3.h", {"store/sqlite.cpp"}},
    {"curl/", {"llm/curl_transport.cpp"}},
    {"boost/", {"vgpu/tier/fiber.cpp"}},
    {"seccomp.h", {"base/sandbox.cpp"}},
    {"openssl/", {"base/hash.cpp"}},
    {"cuda_runtime_api.h", {"cuda/"}},
    {"cuda.h", {"cuda/driver/"}},
};

const SourceTree& ours() {
  static const SourceTree tree = read_source_tree(kSource / "src" / "kernevo");
  return tree;
}

TEST(Structure, IsReadAtAll) {
  EXPECT_GT(ours().order.size(), 20U);
  EXPECT_GT(ours().includes.size(), 3000U);
  EXPECT_TRUE(ours().links.at("evolve").contains("store"));
  EXPECT_TRUE(ours().links.at("cli").contains("evolve"));
}

TEST(Structure, EveryFolderOfSourcesIsInTheList) {
  for (const auto& entry : fs::directory_iterator(kSource / "src" / "kernevo"))
    if (entry.is_directory()) {
      EXPECT_THAT(ours().order, testing::Contains(entry.path().filename().string()));
    }
}

TEST(Structure, TheArchitecturePageHasTheSameOrder) {
  const auto page = read_text_file(kSource / "docs" / "architecture.md");
  ASSERT_TRUE(page);
  EXPECT_EQ(folders_of_page(*page, "Folders, in the order data flows"), ours().order);
}

TEST(Structure, FoldersUseOnlyThoseAboveThemAndLinkWhatTheyInclude) {
  EXPECT_THAT(broken_order(ours()), IsEmpty());
}

TEST(Structure, HeavyHeadersStayBehindTheirDoors) {
  EXPECT_THAT(broken_doors(ours(), kDoors), IsEmpty());
}

// The driver's interface is not built on the runtime's, nor the other way round.
TEST(Structure, TheTwoCudaInterfacesMeetOnlyInTheCore) {
  for (const Include& include : ours().includes) {
    const auto crosses = [&](const char* from, const char* to) {
      return include.file.starts_with(from) && include.header.starts_with(to);
    };
    EXPECT_FALSE(crosses("cuda/core/", "kernevo/cuda/runtime/") ||
                 crosses("cuda/core/", "kernevo/cuda/driver/") ||
                 crosses("cuda/driver/", "kernevo/cuda/runtime/") ||
                 crosses("cuda/runtime/", "kernevo/cuda/driver/"))
        << include.file << ":" << include.line;
  }
}

// A tree of two folders and what is wrong with it.
class MadeUpTree : public testing::Test {
protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  void SetUp() override {
    write("CMakeLists.txt", "foreach(folder low high top)\nendforeach()\n");
    write("low/CMakeLists.txt", "kernevo_library(low SOURCES a.cpp)\n");
    write("low/a.cpp", "#include \"kernevo/low/a.h\"\n");
    write("high/CMakeLists.txt", "kernevo_library(high SOURCES b.cpp LINK kernevo_low)\n");
    write("high/b.cpp", "\n#include \"kernevo/low/a.h\"\n");
    write("top/CMakeLists.txt",
          "add_executable(top c.cpp)\ntarget_link_libraries(top kernevo_high)\n");
    write("top/c.cpp", "#include \"kernevo/low/a.h\"\n");
  }
  std::vector<std::string> broken() const { return broken_order(read_source_tree(folder_.path())); }

  TemporaryFolder folder_ = TemporaryFolder::make().value();
};

TEST_F(MadeUpTree, IsInOrder) {
  EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MadeUpTree, AnIncludeFromBelowIsNamedWithItsLine) {
  write("low/a.cpp", "\n#include \"kernevo/high/b.h\"\n");
  EXPECT_THAT(broken(), ElementsAre(HasSubstr(
                            "low/a.cpp:2 includes kernevo/high/b.h, but high stands below low")));
}

TEST_F(MadeUpTree, ALinkFromBelowIsNamed) {
  write("low/CMakeLists.txt", "kernevo_library(low SOURCES a.cpp LINK kernevo_high)\n");
  EXPECT_THAT(broken(), ElementsAre("low links high, which stands below it"));
}

TEST_F(MadeUpTree, AnIncludeWithoutALinkIsNamed) {
  write("high/CMakeLists.txt", "kernevo_library(high SOURCES b.cpp) # kernevo_low\n");
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("but high does not link low"),
                                    HasSubstr("but top does not link low")));
}

TEST_F(MadeUpTree, AnUnknownFolderIsNamed) {
  write("top/c.cpp", "#include \"kernevo/nowhere/a.h\"\n");
  EXPECT_THAT(broken(), ElementsAre(HasSubstr("of no folder in the list")));
}

TEST_F(MadeUpTree, ADoorIsForItsFilesAlone) {
  write("low/a.cpp", "#include <heavy/a.h>\n");
  write("high/b.h", "#include <heavy/b.h>\n");
  const SourceTree tree = read_source_tree(folder_.path());
  EXPECT_THAT(broken_doors(tree, {{"heavy/", {".cpp"}}}), ElementsAre(HasSubstr("high/b.h:1")));
  EXPECT_THAT(broken_doors(tree, {{"heavy/", {"high/"}}}), ElementsAre(HasSubstr("low/a.cpp:1")));
}

} // namespace
} // namespace kernevo::structure
