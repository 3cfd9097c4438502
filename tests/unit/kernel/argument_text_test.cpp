#include "kernevo/kernel/argument_text.h"
#include "test_folder.h"

#include <cstring>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

template <class T> T value_of(const RunArgument& argument) {
  T value{};
  EXPECT_EQ(argument.bytes.size(), sizeof value);
  std::memcpy(&value, argument.bytes.data(), std::min(sizeof value, argument.bytes.size()));
  return value;
}

class ArgumentFile : public testing::Test {
protected:
  const TestFolder folder_;
  const std::string path_ = folder_.write("letters", "abcdefgh");
};

TEST(RunArgument, Scalars) {
  EXPECT_EQ(value_of<std::int32_t>(*parse_run_argument("i32:-5")), -5);
  EXPECT_EQ(value_of<std::uint64_t>(*parse_run_argument("u64:18446744073709551615")), ~0ULL);
  EXPECT_EQ(value_of<std::int8_t>(*parse_run_argument("i8:-128")), -128);
  EXPECT_EQ(value_of<std::uint32_t>(*parse_run_argument("b32:0x3f800000")), 0x3f800000U);
  EXPECT_EQ(value_of<float>(*parse_run_argument("f32:1.5")), 1.5F);
  EXPECT_EQ(value_of<double>(*parse_run_argument("f64:-1e300")), -1e300);
  EXPECT_EQ(value_of<std::uint16_t>(*parse_run_argument("f16:1")), 0x3c00);
  EXPECT_EQ(value_of<std::uint16_t>(*parse_run_argument("bf16:1")), 0x3f80);
}

TEST(RunArgument, BuffersOfZeros) {
  const auto argument = parse_run_argument("out:f64:3:result.bin");
  ASSERT_TRUE(argument);
  EXPECT_TRUE(argument->buffer);
  EXPECT_TRUE(argument->writable);
  EXPECT_EQ(argument->bytes.size(), 24U);
  EXPECT_EQ(argument->save_to, "result.bin");
}

TEST_F(ArgumentFile, FillsBuffersAndStructs) {
  const auto in = parse_run_argument("in:u16:" + path_);
  ASSERT_TRUE(in);
  EXPECT_FALSE(in->writable);
  EXPECT_EQ(in->bytes.size(), 8U);
  EXPECT_EQ(static_cast<char>(in->bytes[7]), 'h');
  const auto inout = parse_run_argument("inout:b8:" + path_ + ":out.bin");
  ASSERT_TRUE(inout);
  EXPECT_TRUE(inout->writable);
  EXPECT_EQ(inout->save_to, "out.bin");
  const auto structure = parse_run_argument("struct:" + path_);
  ASSERT_TRUE(structure);
  EXPECT_FALSE(structure->buffer);
  EXPECT_EQ(structure->bytes.size(), 8U);
}

TEST_F(ArgumentFile, BadOnesSayWhatToWrite) {
  for (const std::string text : {"",
                                 "5",
                                 "i32",
                                 "i32:",
                                 "i32:x",
                                 "i32:1.5",
                                 "i32:2147483648",
                                 "i32:-2147483649",
                                 "u8:256",
                                 "u32:-1",
                                 "f8:1",
                                 "i7:1",
                                 "f32:",
                                 "f32:1x",
                                 "i32:1:2",
                                 "out:f32",
                                 "out:f32:0",
                                 "out:f32:-1",
                                 "out:f32:99999999999999999999",
                                 "out:f32:1:a:b",
                                 "in:f32:no/such/file",
                                 "in:nothing:x"})
    EXPECT_FALSE(parse_run_argument(text)) << text;
  EXPECT_FALSE(parse_run_argument("in:f32:" + path_ + ":result"));
  EXPECT_FALSE(parse_run_argument("struct:no/such/file"));
  std::ofstream(path_, std::ios::binary) << "abc";
  const auto odd = parse_run_argument("in:f32:" + path_);
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("3 bytes"), std::string::npos);
}

TEST(RunArgument, ShowsElements) {
  const auto minus = parse_run_argument("i16:-2");
  EXPECT_EQ(show_element(minus->type, minus->bytes.data(), 0), "-2");
  const auto bits = parse_run_argument("b16:0xfffe");
  EXPECT_EQ(show_element(bits->type, bits->bytes.data(), 0), "0xfffe");
  const auto half = parse_run_argument("f16:0.5");
  EXPECT_EQ(show_element(half->type, half->bytes.data(), 0), "0.5");
}

TEST(Extents, OneToThree) {
  EXPECT_EQ(*parse_extents("4"), (std::vector<std::uint32_t>{4, 1, 1}));
  EXPECT_EQ(*parse_extents("4,2"), (std::vector<std::uint32_t>{4, 2, 1}));
  EXPECT_EQ(*parse_extents("4x2x3"), (std::vector<std::uint32_t>{4, 2, 3}));
  for (const std::string text : {"", "0", "4,", ",4", "1,2,3,4", "-1", "4294967296", "a"})
    EXPECT_FALSE(parse_extents(text)) << text;
}

} // namespace
} // namespace kernevo
