#include "kernevo/rewrite/element_loop.h"
#include "kernevo/rewrite/rewrite_list.h"
#include "kernevo/rewrite/vector_pointers.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

bool inside_a_block(const Draft& draft, const Function& kernel) {
  int depth = 0;
  for (const Token& token : draft.code().tokens()) {
    if (token.begin >= kernel.begin)
      break;
    depth += token.is("{") ? 1 : (token.is("}") ? -1 : 0);
  }
  return depth != 0;
}

// Loads whole vectors into packs, does the work on them lane by lane, and stores them.
class Writer {
public:
  Writer(Draft& draft, const ElementKernel& element, const std::vector<VectorPointer>& pointers)
      : draft_(draft), element_(element), index_(element.shape.indices[0]),
        vector_(draft.fresh("VECTOR")), first_(draft.fresh("first")), lane_(draft.fresh("lane")),
        whole_(draft.fresh("whole")), bound_(draft.text(*index_.bound)) {
    for (const VectorPointer& pointer : pointers)
      packed_.push_back({pointer, "", ""});
  }

  const std::string& vector() const { return vector_; }

  std::optional<Refusal> write_launches() {
    return set_grids(draft_, *element_.body.function, 'x', [&](const std::string& grid) {
      return fmt::format("ceil_div({}, {})", grid, vector_);
    });
  }

  // One for each type of element.
  void write_pack_types() {
    std::map<std::string, std::string> packs;
    std::string declarations;
    for (Packed& packed : packed_) {
      const std::string& type = packed.pointer.parameter->element;
      std::string& pack = packs[type];
      if (pack.empty()) {
        std::string name = type + "_pack";
        std::replace_if(name.begin(), name.end(), [](char c) { return c == ' ' || c == ':'; }, '_');
        pack = draft_.fresh(name);
        declarations +=
            fmt::format("struct alignas({0} * sizeof({1}) < 16 ? {0} * sizeof({1}) : 16) "
                        "{2} {{\n  {1} at[{0}];\n}};\n",
                        vector_, type, pack);
      }
      packed.pack = pack;
      packed.local = draft_.fresh(packed.pointer.parameter->name + "_pack");
    }
    draft_.edits().insert(element_.body.function->begin,
                          fmt::format("// {} elements that are read or written at once.\n{}\n",
                                      vector_, declarations));
  }

  void write_directive() {
    int widest = 1;
    for (const Packed& packed : packed_)
      widest = std::max(widest, *draft_.code().size_of_type(packed.pointer.parameter->element));
    const int wide = std::max(2, 16 / widest);
    draft_.add_directive(wide > 2
                             ? fmt::format("@tune {} {} {} {}", vector_, wide, wide / 2, wide * 2)
                             : fmt::format("@tune {} 2 4", vector_));
  }

  void write_loop() {
    ElementLoop loop;
    loop.before.push_back(fmt::format("const long long {} = static_cast<long long>({}) * {};",
                                      first_, draft_.text(*index_.declarator->init), vector_));
    loop.before.push_back(fmt::format("if ({} >= {})", first_, bound_));
    loop.before.push_back("  return;");
    loop.before.push_back(fmt::format("const bool {} = {};", whole_, condition()));
    for (const Packed& packed : packed_) {
      loop.before.push_back(fmt::format("{} {};", packed.pack, packed.local));
      if (packed.pointer.loaded)
        add_load(packed, loop.before);
      if (packed.pointer.stored)
        add_store(packed, loop.after);
      use_pack(packed);
    }
    loop.head = each_lane();
    loop.unrolled = true;
    loop.index = fmt::format("{} + {}", first_, lane_);
    wrap_in_loop(draft_, element_.body, index_, loop);
  }

private:
  struct Packed {
    VectorPointer pointer;
    std::string pack; // its type
    std::string local;
  };

  std::string each_lane() const {
    return fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", lane_, vector_);
  }

  // A whole vector lies within the bound, aligned as the packs demand.
  std::string condition() const {
    std::string text = fmt::format("{} + {} <= {}", first_, vector_, bound_);
    for (const Packed& packed : packed_)
      text += fmt::format(" && reinterpret_cast<unsigned long long>({}) % sizeof({}) == 0",
                          packed.pointer.parameter->name, packed.pack);
    return text;
  }

  // The lanes one by one where the vector is not whole.
  void add_access(const std::string& whole, const std::string& lane,
                  std::vector<std::string>& lines) const {
    lines.push_back(fmt::format("if ({})", whole_));
    lines.push_back("  " + whole);
    lines.push_back("else");
    lines.push_back("  " + each_lane());
    lines.push_back(fmt::format("    if ({} + {} < {})", first_, lane_, bound_));
    lines.push_back("      " + lane);
  }

  void add_load(const Packed& packed, std::vector<std::string>& lines) const {
    const std::string& name = packed.pointer.parameter->name;
    add_access(fmt::format("{} = *reinterpret_cast<const {}*>({} + {});", packed.local, packed.pack,
                           name, first_),
               fmt::format("{}.at[{}] = {}[{} + {}];", packed.local, lane_, name, first_, lane_),
               lines);
  }

  void add_store(const Packed& packed, std::vector<std::string>& lines) const {
    const std::string& name = packed.pointer.parameter->name;
    add_access(fmt::format("*reinterpret_cast<{}*>({} + {}) = {};", packed.pack, name, first_,
                           packed.local),
               fmt::format("{}[{} + {}] = {}.at[{}];", name, first_, lane_, packed.local, lane_),
               lines);
  }

  // The work reads and writes the pack where it had p[index].
  void use_pack(const Packed& packed) {
    visit(*element_.body.block, [&](const Expr& expr) {
      if (!is_element(expr, packed.pointer.parameter->name, index_.name))
        return;
      draft_.edits().replace(expr.kids[0]->begin, expr.kids[0]->end, packed.local + ".at");
      draft_.edits().replace(expr.kids[1]->begin, expr.kids[1]->end, lane_);
    });
  }

  Draft& draft_;
  const ElementKernel& element_;
  const IndexVariable& index_;
  std::string vector_, first_, lane_, whole_, bound_;
  std::vector<Packed> packed_;
};

} // namespace

Outcome vectorise(Draft& draft, const Function& kernel) {
  if (kernel.is_template || inside_a_block(draft, kernel))
    return refuse("{} is a template or stands in a namespace", kernel.name);
  const auto element = element_kernel(draft, kernel);
  if (!element)
    return tl::unexpected<Refusal>(element.error());
  if (element->shape.indices.size() != 1 || element->shape.indices[0].axis != 'x')
    return refuse("{} has more than one index", kernel.name);
  const IndexVariable& index = element->shape.indices[0];
  if (!(index.scale == Polynomial::constant(1)))
    return refuse("a thread of {} has several elements already", kernel.name);
  if (auto refusal = check_repeatable(draft, element->body, element->shape, index))
    return tl::unexpected<Refusal>(*refusal);
  const auto pointers = vector_pointers(draft, element->body, element->shape, index);
  if (!pointers)
    return tl::unexpected<Refusal>(pointers.error());
  Writer writer(draft, *element, *pointers);
  if (auto refusal = writer.write_launches())
    return tl::unexpected<Refusal>(*refusal);
  writer.write_pack_types();
  writer.write_directive();
  writer.write_loop();
  std::vector<std::string> names;
  for (const VectorPointer& pointer : *pointers)
    names.push_back(pointer.parameter->name);
  return fmt::format("{} {} accessed {} elements at a time", fmt::join(names, ", "),
                     names.size() == 1 ? "is" : "are", writer.vector());
}

} // namespace kernevo::rewrite
