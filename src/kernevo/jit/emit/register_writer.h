// Registers and operands: scalars where the shape allows, 32 lanes otherwise. Where they are kept
// is for those to say who derive from this.
#pragma once

#include "kernevo/jit/emit/function_writer.h"

#include <map>
#include <utility>
#include <vector>

namespace kernevo::jit {

class RegisterWriter : public FunctionWriter {
public:
  RegisterWriter(llvm::LLVMContext& context, const vgpu::CompileJob& job, const Plan& plan,
                 const Host& host);

protected:
  const vgpu::analysis::Shape& shape(ptx::RegisterId reg) const {
    return plan_.shapes.registers[reg];
  }
  vgpu::analysis::Shape shape(const ptx::Operand& operand) const;
  bool is_uniform(const ptx::Operand& operand) const;
  Value* constant(const ptx::Operand& operand, ptx::Type type);
  // The value in the first lane of group `index`, for groups of `group` lanes.
  Value* first_lane(const ptx::Operand& operand, ptx::Type type, unsigned group, unsigned index);
  Value* scalar(const ptx::Operand& operand, ptx::Type type) {
    return first_lane(operand, type, kLanes, 0);
  }
  Value* vector(const ptx::Operand& operand, ptx::Type type);
  Value* expand(const std::vector<Value*>& bases, std::int64_t stride, unsigned group);
  Value* frame_lanes(std::uint32_t slot, llvm::Type* type);
  // Predicates: a uniform one as i1, any as a mask of lanes.
  Value* flag(const ptx::Operand& operand);
  Value* mask(const ptx::Operand& operand);
  Value* mask_of_flag(Value* flag);
  Value* lanes_of_mask(Value* mask);
  Value* mask_of_lanes(Value* lanes);
  bool is_flag(const ptx::Operand& operand) const;
  void write_scalar(ptx::RegisterId reg, unsigned index, Value* value);
  void write_vector(ptx::RegisterId reg, Value* value);
  void write_predicate(const ptx::Operand& operand, Value* value); // i1 or mask as it comes
  // Calls make(operands) once on vectors or on the first lane of each group, as the result's shape
  // wants, and writes the result.
  template <class Make>
  void compute(ptx::RegisterId result, const std::vector<const ptx::Operand*>& from,
               const std::vector<ptx::Type>& types, Make&& make);
  void store_for_handler(ptx::RegisterId reg);
  void reload_from_handler(ptx::RegisterId reg);
  Value* canonical_read(Value* value, ptx::RegisterId reg);

  // Where a scalar, flag, mask or vector is kept.
  virtual Value* home(ptx::RegisterId reg, unsigned index = 0) = 0;
  // One lane of a register that varies.
  virtual Value* varying_lane(ptx::RegisterId reg, unsigned lane) = 0;
  // Puts the lanes of a register where handlers look for them, its slot.
  virtual void put_lanes_in_frame(const ptx::Operand& operand, Value* slot) = 0;
  // One value to every lane that runs.
  virtual void write_to_all(ptx::RegisterId reg, Value* value) = 0;
  // Masks of lanes are kept where handlers look for them.
  virtual bool masks_are_in_frame() const = 0;
  // What holds for the whole activation is read once.
  virtual bool keeps_values() const = 0;
  virtual void note_change(ptx::RegisterId /*reg*/) {}

  // By register: numbers of this type, f32, f16 or f16x2, whose NaN may still be any.
  std::vector<ptx::Type> canonical_later_;
  // Operands are read by arithmetic of this type, to which all NaN are alike.
  ptx::Type raw_nan_ = ptx::Type::none;
  ptx::Type raw_result_ = ptx::Type::none; // the result is of this type and may be any NaN

private:
  Value* read_slot(std::uint32_t slot, llvm::Type* type, unsigned lane);
  std::uint32_t slot_of(const ptx::Operand& operand, ptx::Type type) const;
  Value* canonical(Value* value, ptx::Type type);
  Value* canonical_write(Value* value, ptx::RegisterId reg);

  std::map<std::pair<std::uint32_t, unsigned>, Value*> slot_values_;
};

template <class Make>
void RegisterWriter::compute(ptx::RegisterId result, const std::vector<const ptx::Operand*>& from,
                             const std::vector<ptx::Type>& types, Make&& make) {
  const auto& wanted = shape(result);
  if (plan_.home[result] == Home::scalar) {
    const unsigned group = wanted.group;
    for (unsigned index = 0; index < kLanes / group; ++index) {
      Operands values;
      for (std::size_t i = 0; i < from.size(); ++i)
        values.push_back(first_lane(*from[i], types[i], group, index));
      write_scalar(result, index, make(values));
    }
    return;
  }
  Operands values;
  for (std::size_t i = 0; i < from.size(); ++i)
    values.push_back(vector(*from[i], types[i]));
  write_vector(result, make(values));
}

} // namespace kernevo::jit
