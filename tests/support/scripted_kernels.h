// Kernels that say what they do, for a fake device. The body of one is a list of statements, each
// with an integer expression of the shape's sizes and the kernel's parameters:
//   takes(N / THREADS);   nanoseconds of a run
//   wrong(N == 4096);     where not 0: one element of the output is wrong
//   faults(N > 1000);     where not 0: a run ends with an access out of bounds
//   silent(1);            where not 0: a run writes nothing
//   scribbles(1);         where not 0: a run changes its first input
//   refuses(THREADS > 8); where not 0: it does not compile; of the parameters alone
// What is not said is 0, but for takes, which is a microsecond.
#pragma once

#include "fake_device.h"
#include "kernevo/kernel/kernel_file.h"
#include "kernevo/model/task.h"

#include <memory>
#include <string>

namespace kernevo {

// A kernel that adds two vectors of float32, after `statements`; `directives` stand before it.
std::string scripted_add(const std::string& statements, const std::string& directives = "");

// What to make a fake device of that runs such kernels.
FakeScript scripted_kernels();

// The task they are for, at these lengths.
std::string scripted_task(const std::string& shapes, const std::string& more = "");

// A virtual A100's figures, times as scripted.
std::shared_ptr<FakeDevice> fake_device(FakeScript script = scripted_kernels());

// The same, disturbed by one of noise_models().
std::shared_ptr<FakeDevice> noisy_device(const std::string& noise, std::uint64_t seed = 1);

// The test's own texts; asserts that they are right.
Task task_of(const std::string& text);
KernelFile kernel_of(const std::string& source, const std::string& file = "kernel.cu");

} // namespace kernevo
