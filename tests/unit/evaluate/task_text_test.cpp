#include "kernevo/evaluate/visible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

std::string visible(const std::string& text) {
  return visible_task_text(text, "t.yaml", Audience::proposer).value_or("ERROR");
}

TEST(TaskText, keeps_all_but_the_hidden_shapes) {
  EXPECT_EQ(visible("# mine\nop_name: softmax # yes\ncheck_shapes:\n- [7, 7]\n- [9, 9]\ndtype: "
                    "float32\n"),
            "# mine\nop_name: softmax # yes\ndtype: float32\n");
  EXPECT_EQ(visible("op_name: a\n\"check_shapes\":\n  - [7, 7]\n"), "op_name: a\n");
  EXPECT_EQ(visible("op_name: a\nshapes:\n  - [7, 7]\n"), "op_name: a\nshapes:\n  - [7, 7]\n");
}

TEST(TaskText, knows_tasks_on_one_line) {
  EXPECT_EQ(visible("{op_name: a, check_shapes: [[7]], dtype: b}\n"), "{op_name: a, dtype: b}\n");
  EXPECT_THAT(visible("{op_name: a, check_shapes: [[7]]}\n"),
              testing::Not(testing::HasSubstr("7")));
}

TEST(TaskText, takes_comments_with_what_they_are_about) {
  EXPECT_EQ(visible("op_name: a # mine\n# 7 is prime\n  # and so is 11\ncheck_shapes: [[7]] # 7\n"
                    "# of 13\nshapes: [[8]]\n"),
            "op_name: a # mine\nshapes: [[8]]\n");
  EXPECT_EQ(visible("# 7\ncheck_shapes: [[7]]\nop_name: a\n"), "op_name: a\n");
  EXPECT_EQ(visible("op_name: a\n\n# 7\ncheck_shapes: [[7]]\n# 7 again\n"), "op_name: a\n\n");
}

TEST(TaskText, is_whole_for_the_owner) {
  const std::string text = "op_name: a\n# 7\ncheck_shapes: [[7]]\n";
  EXPECT_EQ(visible_task_text(text, "t.yaml", Audience::owner).value_or("ERROR"), text);
}

TEST(TaskText, refuses_what_is_no_task) {
  EXPECT_EQ(visible("models:\n  - name: m\n    key: secret\n"), "ERROR");
  EXPECT_EQ(visible("root:x:0:0\n- a\n"), "ERROR");
  EXPECT_EQ(visible("just text\n"), "ERROR");
  EXPECT_EQ(visible("a: [\n"), "ERROR");
}

} // namespace
} // namespace kernevo
