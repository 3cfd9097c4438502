#include "kernevo/jit/object_key.h"

#include "kernevo/base/hash.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

namespace kernevo::jit {
namespace {

// The linker's fingerprint of the file this code is in.
std::string build_id() {
  struct Search {
    const std::byte* here;
    std::string id;
  } search{reinterpret_cast<const std::byte*>(&build_id), ""}; // NOLINT: an address in this file
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const auto* base = reinterpret_cast<const std::byte*>(info->dlpi_addr); // NOLINT
        bool mine = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::byte* start = base + part.p_vaddr;
          mine = mine || (part.p_type == PT_LOAD && wanted.here >= start &&
                          wanted.here < start + part.p_memsz);
        }
        if (!mine)
          return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_NOTE)
            continue;
          const std::byte* at = base + part.p_vaddr;
          const std::byte* end = at + part.p_memsz;
          const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const std::byte* content = at + sizeof note + padded(note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID)
              wanted.id.assign(reinterpret_cast<const char*>(content), note.n_descsz); // NOLINT
            at = content + padded(note.n_descsz);
          }
        }
        return 1;
      },
      &search);
  return sha256_hex(search.id);
}

void add(std::string& text, std::string_view name, std::uint64_t value) {
  text += fmt::format("{}={} ", name, value);
}

void add(std::string& text, std::string_view name, const vgpu::analysis::Shape& shape) {
  text += fmt::format("{}={}/{}/{}/{} ", name, static_cast<int>(shape.kind), shape.group,
                      shape.stride, shape.alignment);
}

template <class T> void add_bytes(std::string& text, const std::vector<T>& values) {
  text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)); // NOLINT
}

// Where the lowering, which is part of the program and not of this library, put everything.
std::string layout_hash(const vgpu::Code& code) {
  std::string text;
  add(text, "op", sizeof(vgpu::Op));
  add(text, "frame", code.frame_bytes);
  add(text, "local", code.local_bytes);
  add_bytes(text, code.register_slots);
  add_bytes(text, code.first_op);
  add_bytes(text, code.order);
  for (const vgpu::Op& op : code.ops) {
    const std::array<std::uint64_t, 9> fields = {op.d,
                                                 op.a,
                                                 op.b,
                                                 op.c,
                                                 static_cast<std::uint64_t>(op.immediate),
                                                 op.guard,
                                                 op.member_mask,
                                                 op.target,
                                                 op.instruction};
    text.append(reinterpret_cast<const char*>(fields.data()), sizeof fields); // NOLINT
    text.push_back(static_cast<char>(op.kind));
    text.push_back(op.guard_negated ? '!' : ' ');
  }
  for (const auto& [name, slot] : code.symbol_slots) {
    text += std::get<0>(name);
    add(text, "at", slot);
  }
  return sha256_hex(text);
}

} // namespace

vgpu::ObjectKey object_key(const vgpu::CompileJob& job, std::string_view target) {
  static const std::string build = build_id();
  const vgpu::Code& code = job.program->codes[job.function];
  std::string text =
      fmt::format("{} {} {} {} ", build, target, job.program->text_hash, layout_hash(code));
  add(text, "abi", vgpu::kCompiledAbi);
  add(text, "function", job.function);
  add(text, "x", job.facts.tid_x);
  add(text, "y", job.facts.tid_y);
  add(text, "z", job.facts.tid_z);
  add(text, "full", job.full);
  add(text, "counting", job.counting);
  add(text, "optimise", job.optimise);
  for (const ptx::RegisterId reg : job.demoted)
    add(text, "demoted", reg);
  return {job.program->text_hash, sha256_hex(text)};
}

} // namespace kernevo::jit
