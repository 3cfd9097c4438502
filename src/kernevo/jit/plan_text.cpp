#include "kernevo/jit/plan_text.h"

#include <fmt/format.h>
#include <iterator>

namespace kernevo::jit {
namespace {

using vgpu::analysis::Shape;

std::string describe(const Shape& shape) {
  switch (shape.kind) {
  case Shape::Kind::unset: return "never written";
  case Shape::Kind::varying: return "varying";
  case Shape::Kind::straight: break;
  }
  std::string text = shape.is_uniform() ? "uniform" : fmt::format("base + {} * lane", shape.stride);
  if (shape.group != vgpu::kWarpSize)
    text += fmt::format(", a base per {} lanes", shape.group);
  if (shape.alignment == 0)
    text += ", zero";
  else if (shape.alignment > 1)
    text += fmt::format(", a multiple of {}", shape.alignment);
  return text;
}

std::string_view name_of(Home home) {
  switch (home) {
  case Home::unused: return "unused";
  case Home::scalar: return "scalar";
  case Home::vector: return "vector";
  case Home::flag: return "flag";
  case Home::mask: return "mask";
  case Home::frame: return "frame";
  }
  return "?";
}

std::string_view name_of(Treatment treatment) {
  switch (treatment) {
  case Treatment::inlined: return "inlined";
  case Treatment::handler: return "handler";
  case Treatment::warp: return "warp";
  case Treatment::exchange: return "exchange";
  case Treatment::leave: return "leave";
  case Treatment::branch: return "branch";
  case Treatment::barrier: return "barrier";
  }
  return "?";
}

class Writer {
public:
  Writer(const vgpu::CompileJob& job, const Plan& plan)
      : code_(job.program->codes[job.function]), function_(*code_.function), job_(job),
        plan_(plan) {}

  std::string run() {
    line("{}, {}{}", function_.name, job_.full ? "all 32 lanes" : "any lanes",
         job_.counting ? ", counting sectors" : "");
    line("{} instructions, {} blocks, {} hits, {} scalars", function_.instructions.size(),
         plan_.flow.blocks.size(), plan_.hits, plan_.scalars);
    line("");
    line("registers");
    for (std::size_t reg = 0; reg < plan_.home.size(); ++reg)
      if (plan_.home[reg] != Home::unused)
        line("  {:<12} {:<7} {}", function_.registers[reg].name, name_of(plan_.home[reg]),
             describe(plan_.shapes.registers[reg]));
    points("entries", plan_.entries);
    points("exits", plan_.exits);
    instructions();
    return text_;
  }

private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  void points(std::string_view what, const std::vector<vgpu::CompiledPoint>& points) {
    line("");
    line("{}", what);
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::string live;
      for (const vgpu::CompiledRegister& item : points[i].live)
        live += (live.empty() ? "" : " ") + function_.registers[item.reg].name;
      line("  {:>3} {}: {}", i, place(points[i].pc), live.empty() ? "nothing live" : live);
    }
  }

  std::string place(std::uint32_t pc) const {
    if (pc >= code_.ops.size())
      return "at the end";
    return fmt::format("line {}", function_.instructions[code_.ops[pc].instruction].line);
  }

  void instructions() {
    line("");
    line("instructions");
    for (std::uint32_t block = 0; block < plan_.flow.blocks.size(); ++block) {
      const auto& range = plan_.flow.blocks[block];
      line("  block {}{}{}", block, plan_.flow.loop_header[block] ? ", a loop" : "",
           plan_.shapes.divergent_branch[block] ? ", lanes part at its end" : "");
      for (std::uint32_t i = range.first; i < range.last && i < plan_.treatment.size(); ++i)
        line("    {:>5} {:<8} {}{}", function_.instructions[i].line, name_of(plan_.treatment[i]),
             ptx::name_of(function_.instructions[i].opcode),
             plan_.hit[i] == kNone ? "" : fmt::format(" (hit {})", plan_.hit[i]));
    }
  }

  const vgpu::Code& code_;
  const ptx::Function& function_;
  const vgpu::CompileJob& job_;
  const Plan& plan_;
  std::string text_;
};

} // namespace

std::string plan_text(const vgpu::CompileJob& job, const Plan& plan) {
  return Writer(job, plan).run();
}

} // namespace kernevo::jit
