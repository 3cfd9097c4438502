#include "kernevo/llm/circuit.h"

#include <gtest/gtest.h>

namespace kernevo::llm {
namespace {

using Pass = Circuit::Pass;

CircuitPolicy quick(double patience, double pause) {
  CircuitPolicy policy;
  policy.patience_seconds = patience;
  policy.first_pause = policy.longest_pause = pause;
  return policy;
}

void fail_once(Circuit& circuit) {
  circuit.enter({}).failed(false);
}

TEST(Circuit, OpensAfterFailuresInARow) {
  Circuit circuit(quick(100, 100));
  fail_once(circuit);
  fail_once(circuit);
  circuit.enter({}).succeeded();
  fail_once(circuit);
  fail_once(circuit);
  EXPECT_FALSE(circuit.open());
  fail_once(circuit);
  EXPECT_TRUE(circuit.open());
  EXPECT_EQ(circuit.enter([] { return true; }).pass(), Pass::cancelled);
}

TEST(Circuit, AnOutageOpensItAtOnce) {
  Circuit circuit(quick(100, 100));
  circuit.enter({}).failed(true);
  EXPECT_TRUE(circuit.open());
}

TEST(Circuit, LetsOneProbeThroughAtATime) {
  Circuit circuit(quick(100, 0.001));
  circuit.enter({}).failed(true);
  auto probe = circuit.enter({});
  EXPECT_EQ(probe.pass(), Pass::probe);
  EXPECT_EQ(circuit.enter([] { return true; }).pass(), Pass::cancelled);
  probe.succeeded();
  EXPECT_EQ(circuit.enter({}).pass(), Pass::go);
}

TEST(Circuit, AProbeWithoutAVerdictIsGivenBack) {
  Circuit circuit(quick(100, 0.001));
  circuit.enter({}).failed(true);
  EXPECT_EQ(circuit.enter({}).pass(), Pass::probe);
  EXPECT_EQ(circuit.enter({}).pass(), Pass::probe);
}

TEST(Circuit, GivesUpWhenPatienceIsOver) {
  Circuit circuit(quick(0.01, 100));
  circuit.enter({}).failed(true);
  EXPECT_EQ(circuit.enter({}).pass(), Pass::given_up);
}

} // namespace
} // namespace kernevo::llm
