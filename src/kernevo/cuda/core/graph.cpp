#include "kernevo/cuda/core/graph.h"

#include "kernevo/cuda/core/conditional.h"
#include "kernevo/cuda/core/recorded_graph.h"
#include "kernevo/cuda/core/session.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

CUgraphNode_st* CUgraph_st::add(cudaGraphNodeType type, kernevo::cuda::Work work,
                                std::span<CUgraphNode_st* const> needs) {
  auto made = std::make_unique<CUgraphNode_st>();
  made->type = type;
  made->work = std::move(work);
  made->needs.assign(needs.begin(), needs.end());
  made->graph = this;
  made->id = ++nodes_made;
  return nodes.emplace_back(std::move(made)).get();
}

bool CUgraph_st::owns(std::span<CUgraphNode_st* const> these) const {
  return std::all_of(these.begin(), these.end(), [&](const CUgraphNode_st* node) {
    return CUgraphNode_st::has(node) && node->graph == this;
  });
}

std::unique_ptr<CUgraph_st> CUgraph_st::clone() const {
  auto copy = std::make_unique<CUgraph_st>();
  copy->held = held;
  copy->conditions = conditions;
  for (const auto& node : nodes) {
    auto made = std::make_unique<CUgraphNode_st>(*node);
    made->graph = copy.get();
    copy->clone_of[node.get()] = made.get();
    if (node->conditional != nullptr) {
      made->conditional = std::make_shared<kernevo::cuda::Conditional>();
      made->conditional->on = node->conditional->on;
      made->conditional->type = node->conditional->type;
      for (const auto& body : node->conditional->bodies) {
        auto same = body->clone();
        copy->clone_of.insert(same->clone_of.begin(), same->clone_of.end());
        made->conditional->add_body(std::move(same));
      }
    }
    copy->nodes.push_back(std::move(made));
  }
  for (const auto& node : copy->nodes) {
    // A captured stream may have waited for a node that was taken out since.
    std::erase_if(node->needs,
                  [&](const CUgraphNode_st* need) { return !copy->clone_of.contains(need); });
    for (CUgraphNode_st*& need : node->needs)
      need = copy->clone_of.at(need);
  }
  return copy;
}

std::vector<CUgraphNode_st*> CUgraph_st::order() const {
  std::vector<CUgraphNode_st*> sorted;
  std::set<const CUgraphNode_st*> done;
  while (sorted.size() < nodes.size()) {
    const std::size_t before = sorted.size();
    for (const auto& node : nodes) {
      const bool ready =
          std::all_of(node->needs.begin(), node->needs.end(),
                      [&](const CUgraphNode_st* need) { return done.contains(need); });
      if (ready && done.insert(node.get()).second)
        sorted.push_back(node.get());
    }
    if (sorted.size() == before)
      return {};
  }
  return sorted;
}

cudaError_t CUgraph_st::run() const {
  return kernevo::cuda::run_all(kernevo::cuda::work_of(order()));
}

CUgraphNode_st* CUgraphExec_st::node(cudaGraphNode_t original) const {
  const auto found = graph->clone_of.find(original);
  return found == graph->clone_of.end() ? nullptr : found->second;
}

namespace kernevo::cuda {

unsigned next_graph_id() {
  static std::atomic<unsigned> last = 0;
  return ++last;
}

std::vector<NodeWork> work_of(const std::vector<CUgraphNode_st*>& order) {
  std::vector<NodeWork> all;
  std::map<const CUgraphNode_st*, std::size_t> numbers;
  for (const CUgraphNode_st* node : order) {
    NodeWork& made = all.emplace_back();
    if (node->enabled) {
      made.work = node->work;
      made.conditional = node->conditional;
    }
    made.is_graph = node->type == cudaGraphNodeTypeGraph || made.conditional != nullptr;
    for (const CUgraphNode_st* need : node->needs)
      made.needs.push_back(numbers.at(need));
    numbers[node] = all.size() - 1;
  }
  return all;
}

namespace {

// The step of virtual time in which this thread's graph itself stands, when it is a node.
std::optional<std::size_t>& outer_step() {
  static thread_local std::optional<std::size_t> step;
  return step;
}

// One graph after the other, as the condition has it.
cudaError_t run_chosen(const Conditional& conditional) {
  if (Recording::is_on())
    Recording::get().refuse("a condition in a graph");
  TimedWork* const timed = TimedWork::current();
  std::map<const CUgraph_st*, std::vector<NodeWork>> known;
  const CUgraph_st* body = conditional.chosen(true);
  while (body != nullptr) {
    const auto [work, is_new] = known.try_emplace(body);
    if (is_new)
      work->second = work_of(body->order());
    if (const cudaError_t error = run_all(work->second); error != cudaSuccess)
      return error;
    std::optional<std::size_t>& step = outer_step();
    if (timed != nullptr && step) // the next begins when this one has ended
      step = timed->begin_step(timed->steps_since(*step));
    body = conditional.chosen(false);
  }
  return fault();
}

} // namespace

cudaError_t run_all(const std::vector<NodeWork>& all) {
  std::optional<std::size_t>& outer = outer_step();
  const std::optional<std::size_t> around = outer;
  TimedWork* const timed = TimedWork::current();
  std::vector<std::size_t> ends; // the step with which each node ends
  RecordedGraph recorded(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const NodeWork& node = all[i];
    recorded.begin(i);
    if (timed != nullptr) {
      std::vector<std::size_t> needs;
      for (const std::size_t need : node.needs)
        needs.push_back(ends.at(need));
      if (needs.empty() && around)
        needs.push_back(*around);
      ends.push_back(timed->begin_step(std::move(needs)));
      if (node.is_graph)
        outer = ends.back();
    }
    const cudaError_t error = node.conditional != nullptr ? run_chosen(*node.conditional)
                              : node.work                 ? node.work()
                                                          : cudaSuccess;
    outer = around;
    recorded.end(i);
    if (error != cudaSuccess)
      return error;
    if (timed != nullptr && node.is_graph)
      ends.back() = timed->begin_step(timed->steps_since(ends.back()));
  }
  return cudaSuccess;
}

std::shared_ptr<StreamTime> make_stream_time(QueueKind kind) {
  if (kind == QueueKind::legacy)
    return nullptr;
  return std::make_shared<StreamTime>(
      StreamTime{kind == QueueKind::blocking ? StreamKind::blocking : StreamKind::free});
}

namespace {

// Arguments may come as one buffer: a list of keys and values, as the driver's launches take it.
std::vector<void*> arguments_in(void* const* extra, const vgpu::KernelInfo& kernel) {
  std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != nullptr; extra += 2) {
    const auto key = reinterpret_cast<std::uintptr_t>(*extra); // NOLINT
    if (key == 1)
      buffer = static_cast<std::byte*>(extra[1]);
    else if (key == 2 && extra[1] != nullptr)
      bytes = *static_cast<const std::size_t*>(extra[1]);
    else
      return {};
  }
  std::vector<void*> pointers;
  for (const auto& parameter : kernel.parameters) {
    if (buffer == nullptr || parameter.offset + parameter.size > bytes)
      return {};
    pointers.push_back(buffer + parameter.offset);
  }
  return pointers;
}

} // namespace

std::shared_ptr<const KernelWork> make_kernel_work(const cudaKernelNodeParams& given) {
  cudaKernelNodeParams parameters = given;
  std::vector<void*> from_buffer;
  Session& session = Session::get();
  const std::lock_guard lock(session.mutex);
  Kernel* const kernel = session.kernel(parameters.func);
  const vgpu::Program* program = kernel == nullptr ? nullptr : session.program(*kernel->module);
  if (program == nullptr)
    return nullptr;
  const auto info = vgpu::find_kernel(*program, kernel->name);
  if (info && parameters.kernelParams == nullptr && parameters.extra != nullptr) {
    from_buffer = arguments_in(parameters.extra, *info);
    parameters.kernelParams = from_buffer.empty() ? nullptr : from_buffer.data();
    parameters.extra = nullptr;
  }
  if (!info || (parameters.kernelParams == nullptr && !info->parameters.empty()))
    return nullptr;
  auto launch = std::make_shared<PreparedLaunch>();
  if (session.prepare(*launch, *kernel,
                      {parameters.gridDim, parameters.blockDim, parameters.sharedMemBytes},
                      parameters.kernelParams, false) != cudaSuccess)
    return nullptr;
  auto work = std::make_shared<KernelWork>();
  work->launch = launch;
  work->parameters = parameters;
  for (std::size_t i = 0; i < info->parameters.size(); ++i) {
    if (parameters.kernelParams[i] == nullptr)
      return nullptr;
    const auto* const from = static_cast<const std::byte*>(parameters.kernelParams[i]);
    work->values.emplace_back(from, from + info->parameters[i].size);
  }
  for (auto& value : work->values)
    work->pointers.push_back(value.data());
  work->parameters.kernelParams = work->pointers.data();
  return work;
}

} // namespace kernevo::cuda
