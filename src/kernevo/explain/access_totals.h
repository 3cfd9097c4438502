// Accesses of one kind added up, beside what a perfect layout would have needed.
#pragma once

#include "kernevo/model/launch_counts.h"

#include <algorithm>

namespace kernevo {

struct AccessTotals {
  double requests = 0;
  double threads = 0;
  double bytes = 0; // asked for
  double sectors = 0;
  double l1_hits = 0;
  double wavefronts = 0;
  double collisions = 0;
  // Taken instruction by instruction: a broadcast needs one sector and one pass, however few of
  // its bytes are asked for.
  double ideal_sectors = 0;
  double ideal_wavefronts = 0;

  static constexpr double kSectorBytes = 32;
  static constexpr double kPassBytes = 128; // all banks of shared memory together

  void add(const AccessCounts& a) {
    const auto asked = static_cast<double>(a.requests);
    const auto data = static_cast<double>(a.useful_bytes);
    requests += asked;
    threads += static_cast<double>(a.threads);
    bytes += data;
    sectors += static_cast<double>(a.sectors);
    l1_hits += static_cast<double>(a.l1_hits);
    wavefronts += static_cast<double>(a.wavefronts);
    collisions += static_cast<double>(a.collisions);
    ideal_sectors += std::min(static_cast<double>(a.sectors), std::max(asked, data / kSectorBytes));
    ideal_wavefronts +=
        std::min(static_cast<double>(a.wavefronts), std::max(asked, data / kPassBytes));
  }
};

} // namespace kernevo
