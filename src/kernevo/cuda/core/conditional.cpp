#include "kernevo/cuda/core/conditional.h"

#include "kernevo/cuda/core/session.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace kernevo::cuda {
namespace {

constexpr unsigned kMostBodies = 4096;

struct Known {
  std::mutex mutex;
  std::map<cudaGraphConditionalHandle, std::weak_ptr<Condition>> all;
};

// Never destroyed: programs destroy graphs until the very end.
Known& known() {
  static auto* const conditions = new Known();
  return *conditions;
}

std::atomic_ref<unsigned> at(std::uint64_t address) {
  return std::atomic_ref(*reinterpret_cast<unsigned*>(address)); // NOLINT
}

bool fits(cudaGraphConditionalNodeType type, unsigned size) {
  switch (type) {
  case cudaGraphCondTypeIf: return size == 1 || size == 2;
  case cudaGraphCondTypeWhile: return size == 1;
  case cudaGraphCondTypeSwitch: return size >= 1 && size <= kMostBodies;
  }
  return false;
}

} // namespace

std::shared_ptr<Condition> Condition::make(const CUgraph_st& graph, unsigned initial,
                                           bool assigned) {
  const auto memory = Session::get().machine().allocate(sizeof(unsigned), "a graph's condition");
  if (!memory)
    return nullptr;
  const std::shared_ptr<Condition> made(new Condition(*memory, graph.whole, initial, assigned));
  made->set(assigned ? initial : 0);
  const std::lock_guard lock(known().mutex);
  known().all[made->handle()] = made;
  return made;
}

std::shared_ptr<Condition> Condition::find(cudaGraphConditionalHandle handle) {
  const std::lock_guard lock(known().mutex);
  const auto found = known().all.find(handle);
  return found == known().all.end() ? nullptr : found->second.lock();
}

Condition::~Condition() {
  {
    const std::lock_guard lock(known().mutex);
    known().all.erase(address_);
  }
  Session::get().machine().free(address_);
}

unsigned Condition::value() const {
  return at(address_).load();
}

void Condition::set(unsigned value) const {
  at(address_).store(value);
}

void Condition::begin() const {
  if (assigned_)
    set(initial_);
}

void Conditional::add_body(std::unique_ptr<CUgraph_st> body) {
  body->is_child = true;
  handles.push_back(body.get());
  bodies.push_back(std::move(body));
}

const CUgraph_st* Conditional::chosen(bool first) const {
  if (!first && type != cudaGraphCondTypeWhile)
    return nullptr;
  const unsigned value = on->value();
  std::size_t number = value;
  if (type != cudaGraphCondTypeSwitch)
    number = value != 0 ? 0 : 1;
  const bool stays = type != cudaGraphCondTypeWhile || value != 0;
  return stays && number < bodies.size() ? bodies[number].get() : nullptr;
}

std::shared_ptr<Conditional> make_conditional(const CUgraph_st& graph,
                                              cudaConditionalNodeParams& parameters) {
  const auto condition = Condition::find(parameters.handle);
  if (condition == nullptr || !condition->serves(graph) || !fits(parameters.type, parameters.size))
    return nullptr;
  auto made = std::make_shared<Conditional>();
  made->on = condition;
  made->type = parameters.type;
  for (unsigned i = 0; i < parameters.size; ++i) {
    made->add_body(std::make_unique<CUgraph_st>());
    made->bodies.back()->whole = graph.whole;
  }
  parameters.phGraph_out = made->handles.data();
  return made;
}

void begin_conditions(const CUgraph_st& graph) {
  for (const auto& condition : graph.conditions)
    condition->begin();
  for (const auto& node : graph.nodes) {
    if (node->child != nullptr)
      begin_conditions(*node->child);
    if (node->conditional != nullptr)
      for (const auto& body : node->conditional->bodies)
        begin_conditions(*body);
  }
}

} // namespace kernevo::cuda
