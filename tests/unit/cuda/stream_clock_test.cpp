// Virtual time of streams, events and the host, with costs made up here.
#include "kernevo/cuda/core/stream_clock.h"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

namespace kernevo::cuda {
namespace {

// A cost that somebody tells later.
class LaterCost : public Quote {
public:
  std::optional<Cost> look() const override { return cost; }
  Cost wait() const override {
    if (!cost)
      cost = answer;
    return *cost;
  }
  mutable std::optional<Cost> cost;
  Cost answer = {100, Engine::none};
};

class VirtualTime : public testing::Test {
protected:
  using Stream = std::shared_ptr<StreamTime>;
  static Stream stream(StreamKind kind = StreamKind::blocking) {
    return std::make_shared<StreamTime>(StreamTime{kind});
  }
  std::shared_ptr<TimedWork> begin(const Stream& on) { return clock_.submit(on); }
  void end(const std::shared_ptr<TimedWork>& work, const Cost& cost) {
    auto quote = std::make_shared<LaterCost>();
    quote->cost = cost;
    work->add(quote);
    clock_.finished(work);
  }
  void work(const Stream& on, double ns, Engine engine = Engine::none, double share = 1) {
    end(begin(on), {ns, engine, share});
  }
  double at(const std::shared_ptr<EventTime>& event) {
    return clock_.elapsed_ns(start_, event).value_or(-1);
  }

  // Ten nanoseconds and one for each byte.
  StreamClock clock_{[](Transfer, std::uint64_t bytes) {
    return Cost{10 + static_cast<double>(bytes), Engine::copy_in};
  }};
  std::shared_ptr<EventTime> start_ = clock_.record(nullptr);
};

TEST_F(VirtualTime, WorkOfAStreamFollowsEachOther) {
  const Stream one = stream();
  work(one, 30);
  const auto between = clock_.record(one);
  work(one, 12);
  EXPECT_DOUBLE_EQ(at(between), 30);
  EXPECT_DOUBLE_EQ(at(clock_.record(one)), 42);
}

TEST_F(VirtualTime, StreamsGoBesideEachOther) {
  const Stream one = stream();
  const Stream two = stream();
  work(one, 30);
  work(two, 20);
  EXPECT_DOUBLE_EQ(at(clock_.record(one)), 30);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 20);
}

TEST_F(VirtualTime, AWaitTakesTheLaterTime) {
  const Stream one = stream();
  const Stream two = stream();
  work(one, 30);
  work(two, 5);
  clock_.wait(two, clock_.record(one));
  work(two, 5);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 35);
  clock_.wait(one, clock_.record(stream())); // nothing is there to wait for
  work(one, 1);
  EXPECT_DOUBLE_EQ(at(clock_.record(one)), 31);
}

TEST_F(VirtualTime, TheDefaultStreamComesAfterBlockingStreamsAndBeforeThem) {
  const Stream blocking = stream();
  const Stream free = stream(StreamKind::free);
  work(blocking, 30);
  work(free, 200);
  work(nullptr, 10);
  EXPECT_DOUBLE_EQ(at(clock_.record(nullptr)), 40);
  work(blocking, 1);
  EXPECT_DOUBLE_EQ(at(clock_.record(blocking)), 41);
  work(free, 1);
  EXPECT_DOUBLE_EQ(at(clock_.record(free)), 201);
}

TEST_F(VirtualTime, WhatTheHostHasWaitedForIsBeforeWhatItAsksForNext) {
  const Stream one = stream();
  const Stream two = stream(StreamKind::free);
  work(one, 30);
  clock_.host_waited(one);
  work(two, 5);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 35);
  work(one, 15);
  clock_.host_waited_for(clock_.record(one));
  work(two, 5);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 50);
  work(one, 55);
  clock_.host_waited_for_all();
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 100);
}

TEST_F(VirtualTime, ThreadsOfTheHostWaitForThemselvesAlone) {
  const Stream one = stream(StreamKind::free);
  const Stream two = stream(StreamKind::free);
  work(two, 1); // so that the other thread is known before
  std::thread([&] {
    work(one, 30);
    clock_.host_waited(one);
  }).join();
  work(two, 5);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 6);
}

TEST_F(VirtualTime, KernelsThatFillTheGpuWaitForEachOther) {
  const Stream one = stream();
  const Stream two = stream();
  const Stream three = stream();
  work(one, 30, Engine::multiprocessors, 1);
  work(two, 20, Engine::multiprocessors, 0.5);
  work(three, 20, Engine::multiprocessors, 0.5);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 50);
  EXPECT_DOUBLE_EQ(at(clock_.record(three)), 50); // both halves at once
  const Stream four = stream();
  work(four, 10, Engine::multiprocessors, 0.25);
  EXPECT_DOUBLE_EQ(at(clock_.record(four)), 60);
}

TEST_F(VirtualTime, CopiesGoBesideKernelsAndAreAddedUp) {
  const Stream one = stream();
  const Stream two = stream();
  work(one, 30, Engine::multiprocessors);
  const auto copy = begin(two);
  copy->add_bytes(Transfer::to_device, 4); // rows of one copy
  copy->add_bytes(Transfer::to_device, 6);
  clock_.finished(copy);
  EXPECT_DOUBLE_EQ(at(clock_.record(two)), 20);
}

TEST_F(VirtualTime, AGraphGoesAlongItsEdges) {
  const Stream one = stream();
  const auto graph = begin(one);
  const auto step = [&](std::vector<std::size_t> needs, double ns) {
    const std::size_t number = graph->begin_step(std::move(needs));
    auto quote = std::make_shared<LaterCost>();
    quote->cost = Cost{ns, Engine::none};
    graph->add(quote);
    return number;
  };
  const std::size_t root = step({}, 10);
  const std::size_t left = step({root}, 20);
  const std::size_t right = step({root}, 5);
  const auto inside = std::make_shared<EventTime>();
  graph->add_event(inside);
  step({left, right}, 1);
  clock_.finished(graph);
  EXPECT_DOUBLE_EQ(at(inside), 15);
  EXPECT_DOUBLE_EQ(at(clock_.record(one)), 31);
}

TEST_F(VirtualTime, PricesMayComeLater) {
  const Stream one = stream();
  const Stream two = stream();
  const auto late = begin(one);
  auto quote = std::make_shared<LaterCost>();
  late->add(quote);
  clock_.finished(late);
  work(two, 7);
  const auto other = clock_.record(two);
  const auto after = clock_.record(one);
  EXPECT_FALSE(quote->cost) << "asked before anybody wanted to know";
  EXPECT_DOUBLE_EQ(at(other), 7);
  EXPECT_DOUBLE_EQ(at(after), 100);
}

TEST_F(VirtualTime, WorkThatIsNotDoneHoldsOnlyWhatWaitsForIt) {
  const Stream stuck = stream(StreamKind::free);
  const Stream other = stream(StreamKind::free);
  const auto spins = begin(stuck);
  const auto behind = clock_.record(stuck);
  work(other, 7);
  EXPECT_DOUBLE_EQ(at(clock_.record(other)), 7);
  EXPECT_FALSE(clock_.elapsed_ns(start_, behind));
  clock_.wait(other, behind);
  const auto waits = clock_.record(other);
  EXPECT_FALSE(clock_.elapsed_ns(start_, waits));
  end(spins, {40, Engine::none});
  EXPECT_DOUBLE_EQ(at(behind), 40);
  EXPECT_DOUBLE_EQ(at(waits), 40);
}

TEST_F(VirtualTime, TheDefaultStreamIsHeldByBlockingWork) {
  const Stream stuck = stream();
  const auto spins = begin(stuck);
  const auto after = clock_.record(nullptr);
  EXPECT_FALSE(clock_.elapsed_ns(start_, after));
  end(spins, {40, Engine::none});
  EXPECT_DOUBLE_EQ(at(after), 40);
}

TEST_F(VirtualTime, AnUnknownCostIsNoTimeAndIsForgottenAfterwards) {
  const Stream one = stream();
  work(one, 10);
  const auto before = clock_.record(one);
  end(begin(one), {0, Engine::none, 1, false});
  const auto behind = clock_.record(one);
  work(one, 5);
  const auto last = clock_.record(one);
  EXPECT_TRUE(std::isnan(*clock_.elapsed_ns(before, behind)));
  EXPECT_TRUE(std::isnan(*clock_.elapsed_ns(before, last)));
  EXPECT_DOUBLE_EQ(*clock_.elapsed_ns(behind, last), 5);
}

TEST_F(VirtualTime, ScopesNestAndEnd) {
  EXPECT_EQ(TimedWork::current(), nullptr);
  const auto outer = begin(nullptr);
  {
    const TimedWork::Scope scope(outer);
    EXPECT_EQ(TimedWork::current(), outer.get());
    {
      const auto inner = begin(nullptr);
      const TimedWork::Scope deeper(inner);
      EXPECT_EQ(TimedWork::current(), inner.get());
    }
    EXPECT_EQ(TimedWork::current(), outer.get());
  }
  EXPECT_EQ(TimedWork::current(), nullptr);
}

TEST_F(VirtualTime, ManyLaunchesBehindAnUnknownPriceAreCheapAndDoNotPileUp) {
  const Stream one = stream();
  const auto late = begin(one);
  const auto quote = std::make_shared<LaterCost>();
  late->add(quote);
  clock_.finished(late);
  for (int i = 0; i < 2'000; ++i)
    work(one, 1);
  EXPECT_FALSE(quote->cost);
  for (int i = 0; i < 18'000; ++i)
    work(one, 1);
  EXPECT_TRUE(quote->cost) << "nobody has asked, but so much waits for it";
  EXPECT_DOUBLE_EQ(at(clock_.record(one)), 20'100);
}

} // namespace
} // namespace kernevo::cuda
