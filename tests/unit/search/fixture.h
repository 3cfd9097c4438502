// A made-up kernel whose time is known for every configuration: a tile that fits, a block of whole
// warps, and a few that fail.
#pragma once

#include "kernevo/search/recorded_space.h"

#include <cmath>

namespace kernevo::search {

inline SpaceConstraint where(const char* text, int line = 1) {
  const Place place{"kernel.cu", line, 1};
  return {*Expression::parse(text, place), place};
}

inline RecordedSpace made_up_space() {
  SpaceDescription description;
  description.parameters = {{"BX", {16, 32, 48, 64, 80, 96, 112, 128}},
                            {"BY", {1, 2, 4, 8, 16}},
                            {"TX", {1, 2, 3, 4, 6, 8}},
                            {"TY", {1, 2, 3, 4, 6, 8}},
                            {"SHARED", {0, 1}}};
  description.constraints = {where("BX * BY <= 1024"), where("BX * BY >= 32")};
  RecordedSpace recorded{"made_up", "none", *SearchSpace::construct(description), {}, {1e300}};
  for (Configuration c = 0; c < recorded.space.size(); ++c) {
    const ParameterValues v = recorded.space.values(c);
    const auto threads = static_cast<double>(v.at("BX") * v.at("BY"));
    const auto tile = static_cast<double>(v.at("TX") * v.at("TY"));
    double ms = 1 + 0.3 * std::abs(std::log2(threads / 256)) + 0.4 * std::abs(std::log2(tile / 8));
    ms *= v.at("BX") % 32 == 0 ? 1.0 : 1.4;
    ms *= v.at("SHARED") == 1 ? 1.0 : 1.2 + 0.05 * static_cast<double>(v.at("TX"));
    Trial trial{c, Outcome::ok, Nanoseconds{ms * 1e6}, {}, {}};
    if (threads * tile > 16384)
      trial = {c, Outcome::run, {}, {}, {}};
    else
      recorded.best = std::min(recorded.best, *trial.time);
    recorded.trials.push_back(trial);
  }
  return recorded;
}

} // namespace kernevo::search
