// From how fast the probes go to the figures of a GPU's table and of its architecture's.
#pragma once

#include "kernevo/calibrate/time_probe.h"
#include "kernevo/model/architecture.h"
#include "kernevo/model/gpu.h"

#include <optional>
#include <string>
#include <vector>

namespace kernevo::calibrate {

struct Figure {
  std::string name; // as share/gpus and share/architectures have it: "dram_gbps"
  std::string unit;
  std::string probe; // it comes of
  double value = 0;
  double spread = 0;            // a fraction
  std::optional<double> listed; // where a table has it for this GPU or architecture
  bool of_gpu = false;          // a field of share/gpus
  std::string note;             // what it is not
};

// A figure nobody shall guess.
struct Missing {
  std::string name;
  std::string why;
};

struct Figures {
  std::vector<Figure> known;
  std::vector<Missing> missing;

  const Figure* find(const std::string& name) const;
};

// `listed` and `architecture`: what tables say, where they have this very GPU and capability.
Figures figures_of(const Gpu& gpu, const std::vector<ProbeTime>& times, const Gpu* listed,
                   const Architecture* architecture);

} // namespace kernevo::calibrate
