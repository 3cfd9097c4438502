// What goes into an output element shows when inputs are changed a little, up or down by chance.
#pragma once

#include "kernevo/evaluate/run_case.h"

#include <cstddef>
#include <span>
#include <vector>

namespace kernevo {

// By how much inputs of a type are changed: far more than roundings, far less than what makes a
// function another one.
double change_of(DType dtype);

// `run` numbers the changes: another run, other signs.
CaseInputs changed_inputs(const CaseInputs& inputs, int run);

std::vector<double> numbers(const BufferSpec& buffer, std::span<const std::byte> bytes);

// Notes the larger of what each element has shown before and of what it shows now: how much it
// changed, over the change of the inputs.
void add_effects(std::span<const double> fresh, std::span<const double> changed, double change,
                 std::vector<double>& effects);

} // namespace kernevo
