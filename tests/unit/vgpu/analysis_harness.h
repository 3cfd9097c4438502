// Analyses the kernel `k` of a PTX text.
#pragma once

#include "harness.h"
#include "kernevo/vgpu/analysis/shapes.h"
#include "kernevo/vgpu/program/lower.h"

#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>

namespace kernevo::vgpu::testing {

struct Analyzed {
  explicit Analyzed(const std::string& text, std::array<std::uint32_t, 3> block = {256, 1, 1},
                    const std::set<std::string>& demoted_names = {}) {
    auto loaded = load_program(text, "test.ptx");
    if (!loaded) {
      ADD_FAILURE() << format_error(loaded.error());
      return;
    }
    program = *loaded;
    code = &program->codes[program->function_of.at("k")];
    flow = analysis::find_flow(*code);
    liveness = analysis::find_liveness(*code, flow);
    std::set<ptx::RegisterId> demoted;
    for (const std::string& name : demoted_names)
      demoted.insert(reg(name));
    facts = analysis::lane_facts(block);
    shapes = analysis::find_shapes(*code, flow, liveness, facts, demoted);
  }

  ptx::RegisterId reg(const std::string& name) const {
    const auto& registers = code->function->registers;
    for (ptx::RegisterId i = 0; i < registers.size(); ++i)
      if (registers[i].name == name)
        return i;
    ADD_FAILURE() << "no register " << name;
    return 0;
  }
  const analysis::Shape& shape(const std::string& name) const {
    return shapes.registers[reg(name)];
  }

  // Block that a label starts.
  std::uint32_t block(const std::string& label) const {
    return flow.block_of[code->function->labels.at(label)];
  }

  std::shared_ptr<const Program> program;
  const Code* code = nullptr;
  analysis::LaneFacts facts;
  analysis::Flow flow;
  analysis::Liveness liveness;
  analysis::Shapes shapes;
};

} // namespace kernevo::vgpu::testing
