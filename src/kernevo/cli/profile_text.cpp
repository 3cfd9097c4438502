#include "kernevo/cli/command.h"
#include "kernevo/cli/kernel_options.h"
#include "kernevo/cli/profile_report.h"
#include "kernevo/predict/counters.h"
#include "kernevo/report/roofline_sketch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <utility>

namespace kernevo::cli {
namespace {

constexpr double kShownBound = 0.02;  // of the predicted time
constexpr double kShownLine = 0.02;   // of something, by a source line
constexpr double kSmallLaunch = 0.05; // of the plan's time: told in one line
constexpr double kSameTime = 0.02;    // launches that differ by less are told together
constexpr std::size_t kLines = 5;
constexpr int kBar = 30;
constexpr std::size_t kColumns = 110;

std::string number(double value) {
  if (value == std::floor(value) && value < 1e5)
    return fmt::format("{:.0f}", value);
  constexpr std::array<const char*, 5> prefixes = {"", " k", " M", " G", " T"};
  std::size_t step = 0;
  for (; value >= (step == 0 ? 1e5 : 1e3) && step + 1 < prefixes.size(); ++step)
    value /= 1e3;
  return fmt::format("{:.4g}{}", value, prefixes.at(step));
}

// Counters are grouped by the unit of the hardware their names begin with.
std::string group_of(const std::string& counter) {
  if (counter.find("shared") != std::string::npos)
    return "shared memory";
  if (counter.starts_with("l1tex") || counter.find("_mem_") != std::string::npos ||
      counter.find("atomic") != std::string::npos)
    return "global and local memory";
  if (counter.starts_with("lts"))
    return "L2";
  if (counter.starts_with("dram"))
    return "device memory";
  return "instructions";
}

std::string unit_text(const Counter& c) {
  if (!c.modelled)
    return std::string(c.unit);
  return c.unit.empty() ? "(modelled)" : fmt::format("{} (modelled)", c.unit);
}

std::string counters_text(const LaunchBench& launch, bool beside) {
  const Counters counters = counters_of(launch.counts);
  const std::string error =
      counters.sampling_error > 0 ? fmt::format(" +- {:.1f} %", counters.sampling_error * 100) : "";
  std::string text = fmt::format("{} {}{}\n", paint("counters", Tone::strong),
                                 beside ? "by the virtual GPU, " : "",
                                 counters.blocks_counted < counters.blocks
                                     ? fmt::format("of {} of {} blocks, scaled to all{}",
                                                   counters.blocks_counted, counters.blocks, error)
                                     : fmt::format("of all {} blocks", counters.blocks));
  std::vector<std::string> groups;
  for (const Counter& c : counters.all)
    if (std::find(groups.begin(), groups.end(), group_of(c.name)) == groups.end())
      groups.push_back(group_of(c.name));
  std::vector<std::vector<std::string>> rows;
  for (const std::string& group : groups) {
    std::string shown = group;
    for (const Counter& c : counters.all)
      if (group_of(c.name) == group && c.value != 0)
        rows.push_back({std::exchange(shown, ""), c.name, number(c.value), unit_text(c)});
  }
  return text + table(rows);
}

std::string bounds_text(const Prediction& p) {
  std::string text = fmt::format("{} time each resource alone would need; they overlap\n",
                                 paint("bounds", Tone::strong));
  std::vector<std::vector<std::string>> rows;
  for (const TimingTerm& term : p.bounds) {
    const double share = p.time.value > 0 ? term.time.value / p.time.value : 0;
    if (share < kShownBound)
      continue;
    const int filled = std::clamp(static_cast<int>(std::lround(share * kBar)), 1, kBar);
    rows.push_back({term.name, fmt::format("{:<{}}", std::string(std::size_t(filled), '#'), kBar),
                    fmt::format("{:3.0f} %", share * 100), time_text(term.time.value)});
  }
  return rows.empty() ? text + fmt::format("  none takes {:.0f} % of the time\n", kShownBound * 100)
                      : text + table(rows);
}

// Breaks at blanks so that no line is longer than kColumns; further lines are indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (column > 0 && column + 1 + (end - at) > kColumns) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (at > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return out + '\n';
}

// What hardware counted, as its profiler names it.
std::string hardware_text(const CounterReadings& readings, const HardwareCounters& hardware) {
  std::string text = fmt::format(
      "{} by {}{}\n", paint("counted", Tone::strong), hardware.label(),
      hardware.passes > 0 ? fmt::format(", in {} passes", hardware.passes) : std::string());
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : readings.values)
    if (value != 0)
      rows.push_back({name, number(value)});
  return text + table(rows);
}

// "counted by cuda:0" where all figures of a finding are, else who says which.
std::string origin_text(const BottleneckFinding& finding) {
  std::map<std::string, std::vector<std::string>> by_source;
  for (const BottleneckEvidence& e : finding.evidence)
    if (!e.source.empty())
      by_source[e.source].push_back(e.metric);
  std::string text;
  for (const auto& [source, metrics] : by_source)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", source, fmt::join(metrics, ", "));
  return text;
}

std::string findings_text(const Bottleneck& bottleneck) {
  if (bottleneck.findings.empty())
    return fmt::format("{} none of the {} rules fired\n", paint("findings", Tone::strong),
                       bottleneck.trace.size());
  std::string text = paint("findings", Tone::strong) + " most severe first\n";
  for (const BottleneckFinding& f : bottleneck.findings) {
    const bool good = f.tag == BottleneckTag::near_roofline;
    text += "  " + paint(name_of(f.tag), good ? Tone::good : Tone::warning) + '\n' +
            wrapped("    " + f.message, 4);
    if (const std::string origin = origin_text(f); !origin.empty())
      text += wrapped("    " + origin, 4);
    for (const BottleneckDirection& d : f.directions)
      text += wrapped(fmt::format("    - {}: {}", d.name, d.text), 6);
  }
  return text;
}

class Source {
public:
  explicit Source(const KernelFile& file) : file_(file) {
    std::size_t at = 0;
    while (at <= file.source.size()) {
      const std::size_t end = std::min(file.source.find('\n', at), file.source.size());
      lines_.push_back(file.source.substr(at, end - at));
      at = end + 1;
    }
  }
  // Without the blanks around it; empty for a line of another file.
  std::string text(const SourceLine& place) const {
    const int index = place.line - file_.first_line;
    if (place.file != file_.path || index < 0 || std::size_t(index) >= lines_.size())
      return "";
    const std::string& line = lines_[std::size_t(index)];
    const std::size_t begin = line.find_first_not_of(" \t");
    const std::size_t end = line.find_last_not_of(" \t\r");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }

private:
  const KernelFile& file_;
  std::vector<std::string> lines_;
};

std::string line_facts(const SourceLine& line) {
  std::string facts;
  const auto add = [&](const std::string& fact) { facts += (facts.empty() ? "" : ", ") + fact; };
  if (line.issue_share >= kShownLine)
    add(fmt::format("{:.0f} % of issue slots", line.issue_share * 100));
  if (line.sector_share >= kShownLine)
    add(fmt::format("{:.0f} % of L1 sectors, {:.1f} sectors per request (ideal {:.1f})",
                    line.sector_share * 100, line.memory.sectors / line.memory.requests,
                    line.memory.ideal_sectors / line.memory.requests));
  if (line.wavefront_share >= kShownLine)
    add(fmt::format("{:.0f} % of bank passes, {:.1f} per request (ideal {:.1f})",
                    line.wavefront_share * 100, line.shared.wavefronts / line.shared.requests,
                    line.shared.ideal_wavefronts / line.shared.requests));
  if (line.lanes_active < 0.75)
    add(fmt::format("{:.0f} of 32 lanes at work", line.lanes_active * 32));
  return facts;
}

std::string lines_text(const std::vector<SourceLine>& lines, const Source& source) {
  std::string text = fmt::format("{} heaviest first\n", paint("source lines", Tone::strong));
  std::size_t shown = 0;
  for (const SourceLine& line : lines) {
    const std::string facts = line_facts(line);
    if (facts.empty() || shown == kLines)
      continue;
    ++shown;
    text += fmt::format("  {}  {}\n", paint(line.place(), Tone::strong), facts);
    if (const std::string code = source.text(line); !code.empty())
      text += fmt::format("      {}\n", code);
  }
  return text;
}

std::string resources_text(const LaunchBench& launch) {
  const Prediction& p = launch.prediction;
  std::string text =
      fmt::format("occupancy {:.0f} % ({} blocks of {} threads, limited by {}), {} "
                  "waves",
                  p.occupancy.fraction * 100, p.occupancy.blocks_per_multiprocessor,
                  launch.counts.block[0] * launch.counts.block[1] * launch.counts.block[2],
                  name_of(p.occupancy.limiter), metric_text(p.waves, "wave"));
  if (launch.resources.registers)
    text += fmt::format(", {} registers", *launch.resources.registers);
  if (launch.counts.shared_bytes > 0)
    text += fmt::format(", {} B shared", launch.counts.shared_bytes);
  return text;
}

// Launches of one kernel that do the same are told once.
struct Group {
  std::size_t first = 0;
  std::size_t count = 0;
  double time = 0;
};

bool alike(const LaunchBench& a, const LaunchBench& b) {
  return a.prediction.kernel == b.prediction.kernel && a.counts.grid == b.counts.grid &&
         a.counts.block == b.counts.block &&
         std::abs(a.prediction.time.value - b.prediction.time.value) <=
             kSameTime * a.prediction.time.value;
}

std::vector<Group> groups_of(const std::vector<LaunchBench>& launches) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return alike(launches[g.first], launches[i]);
    });
    if (found == groups.end())
      found = groups.insert(groups.end(), {i, 0, 0});
    ++found->count;
    found->time += launches[i].prediction.time.value;
  }
  return groups;
}

std::string launch_text(const LaunchBench& launch, const Explanation& explanation,
                        const Source& source, const std::string& counted) {
  std::string text;
  if (!launch.prediction.from_machine_code)
    text += "  from PTX alone: ptxas or nvdisasm is missing, 'kernevo doctor' tells how to get "
            "them\n";
  const std::string sketch = report::roofline_sketch(explanation.roofline);
  if (!sketch.empty())
    text += fmt::format("{} log-log\n{}", paint("roofline", Tone::strong), sketch);
  return text + bounds_text(launch.prediction) + counted + counters_text(launch, !counted.empty()) +
         lines_text(explanation.lines, source) + findings_text(explanation.bottleneck);
}

std::string launches_text(const CaseBench& bench, const std::vector<Explanation>& explanations,
                          const Source& source, const HardwareCounters* hardware) {
  std::string text;
  const auto* readings = hardware == nullptr ? nullptr : hardware->find(bench.case_id);
  const std::vector<Group> groups = groups_of(bench.launches);
  for (const Group& group : groups) {
    const LaunchBench& launch = bench.launches[group.first];
    const double share = group.time / bench.timing.median.value;
    if (bench.launches.size() == 1)
      text += fmt::format("  {}: {}\n", launch.prediction.kernel, resources_text(launch));
    else
      text += fmt::format(
          "{}  {}{} ({:.0f} % of the time): {}\n", paint(launch.prediction.kernel, Tone::strong),
          group.count > 1 ? fmt::format("{} launches of ", group.count) : "",
          time_text(launch.prediction.time.value), share * 100, resources_text(launch));
    if (groups.size() == 1 || share >= kSmallLaunch)
      text += launch_text(
          launch, explanations[group.first], source,
          readings == nullptr ? "" : hardware_text(readings->at(group.first), *hardware));
  }
  return text;
}

std::string case_line(const CaseBench& c) {
  return fmt::format("{}  {}  {}, {} to {}\n", paint(c.case_id, Tone::strong),
                     paint(time_text(c.timing.median.value), Tone::strong),
                     name_of(c.timing.method), time_text(c.timing.interval.low.value),
                     time_text(c.timing.interval.high.value));
}

} // namespace

std::string profile_text(const ProfileReport& report) {
  const BenchResult& result = report.result;
  std::string text = fmt::format("task     {}\nkernel   {}\ndevice   {}\n", report.task,
                                 report.kernel, device_text(result.device));
  if (!result.parameters.empty())
    text += fmt::format("with     {}\n", parameters_text(result.parameters));
  const Source source(report.file);
  for (std::size_t c = 0; c < result.cases.size(); ++c) {
    const CaseBench& bench = result.cases[c];
    text += case_line(bench);
    text += launches_text(bench, report.explanations[c], source, report.hardware);
  }
  return text;
}

std::string profile_summary(const ProfileReport& report) {
  std::string text;
  for (std::size_t c = 0; c < report.result.cases.size(); ++c) {
    const CaseBench& bench = report.result.cases[c];
    text += case_line(bench);
    for (const Group& group : groups_of(bench.launches)) {
      const std::string kernel =
          bench.launches.size() == 1 ? "" : bench.launches[group.first].prediction.kernel + "  ";
      if (group.time < kSmallLaunch * bench.timing.median.value)
        continue;
      const Bottleneck& bottleneck = report.explanations[c][group.first].bottleneck;
      for (const BottleneckFinding& f : bottleneck.findings)
        text += fmt::format("{}{}  {}\n", kernel, name_of(f.tag), f.message);
      if (bottleneck.findings.empty())
        text += fmt::format("{}none of the {} rules fired\n", kernel, bottleneck.trace.size());
    }
  }
  return text;
}

} // namespace kernevo::cli
