#include "ptx_test_support.h"

#include "kernevo/ptx/parse.h"
#include "places.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace kernevo::ptx {

std::string in_kernel(const std::string& instructions, const std::string& target,
                      const std::string& version) {
  return ".version " + version + "\n.target " + target +
         "\n.address_size 64\n"
         ".func callee { ret; }\n"
         ".visible .entry k(.param .b64 P)\n{\n"
         ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %d<10>;\n"
         ".reg .b128 %q<10>; .reg .f32 %f<10>; .reg .f64 %g<10>;\n"
         ".param .b64 Q;\n" +
         instructions + "\nDONE: ret;\n}\n";
}

Module parse_good(const std::string& text) {
  Result<Module> parsed = parse(text);
  if (parsed)
    return std::move(*parsed);
  ADD_FAILURE() << format_error(parsed.error());
  return {};
}

Function kernel(const std::string& instructions) {
  const Module module = parse_good(in_kernel(instructions));
  const Function* function = module.find_function("k");
  return function == nullptr ? Function{} : *function;
}

std::string error_of(const std::string& text) {
  const Result<Module> parsed = parse(text);
  return parsed ? "" : format_error(parsed.error());
}

std::string read_data(const std::string& name) {
  std::ifstream file(test_folder("unit/ptx") + "/data/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace kernevo::ptx
