// Conditional nodes of graphs: what kernels set decides what runs.
#include <array>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <vector>

namespace {

// count_down(handle, data): --data[0], and the condition says whether there is any left.
// put(handle, value): sets the condition. add(data, value): data[1] += value.
constexpr const char* kKernels = R"(.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count_down(.param .u64 handle, .param .u64 data)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [data];
  ld.global.u32 %r1, [%rd2];
  sub.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  { .param .b64 h; .param .b32 v;
    st.param.b64 [h], %rd1;
    st.param.b32 [v], %r1;
    call.uni cudaGraphSetConditional, (h, v); }
  ret;
}
.visible .entry put(.param .u64 handle, .param .u32 value)
{
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  { .param .b64 h; .param .b32 v;
    st.param.b64 [h], %rd1;
    st.param.b32 [v], %r1;
    call.uni cudaGraphSetConditional, (h, v); }
  ret;
}
.visible .entry add(.param .u64 data, .param .u32 value)
{
  .reg .u64 %rd<2>;
  .reg .u32 %r<3>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [value];
  ld.global.u32 %r2, [%rd1+4];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd1+4], %r2;
  ret;
}
)";

class ConditionalNodes : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kKernels), CUDA_SUCCESS);
    ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&data_), 8), cudaSuccess); // NOLINT
    data_[0] = data_[1] = 0;
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
    cudaFree(data_);
    cuModuleUnload(module_);
    (void)cudaGetLastError();
  }
  cudaGraphConditionalHandle condition(unsigned initial, unsigned flags) {
    cudaGraphConditionalHandle handle = 0;
    EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, initial, flags), cudaSuccess);
    return handle;
  }
  cudaGraphNode_t launch(cudaGraph_t graph, const char* name, std::array<void*, 2> arguments,
                         std::vector<cudaGraphNode_t> after = {}) {
    CUfunction kernel = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&kernel, module_, name), CUDA_SUCCESS);
    cudaKernelNodeParams parameters{};
    parameters.func = kernel;
    parameters.gridDim = parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments.data();
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters),
              cudaSuccess);
    return node;
  }
  cudaGraphNode_t add(cudaGraph_t graph, unsigned value, std::vector<cudaGraphNode_t> after = {}) {
    return launch(graph, "add", {&data_, &value}, std::move(after));
  }
  cudaGraphNode_t put(cudaGraphConditionalHandle handle, unsigned value) {
    return launch(graph_, "put", {&handle, &value});
  }
  // The graphs that the node chooses from.
  std::vector<cudaGraph_t> choose(cudaGraph_t graph, cudaGraphConditionalHandle handle,
                                  cudaGraphConditionalNodeType type, unsigned size,
                                  std::vector<cudaGraphNode_t> after = {}) {
    cudaGraphNodeParams parameters{};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = size;
    cudaGraphNode_t node = nullptr;
    if (cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &parameters) !=
        cudaSuccess)
      return {};
    cudaGraph_t* const bodies = parameters.conditional.phGraph_out;
    return {bodies, bodies + size};
  }
  cudaGraphExec_t instantiate() {
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
    return executable;
  }
  void launch_and_wait(cudaGraphExec_t executable) {
    EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  CUmodule module_ = nullptr;
  unsigned* data_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

TEST_F(ConditionalNodes, WhileRunsUntilAKernelSaysNo) {
  cudaGraphConditionalHandle handle = condition(1, cudaGraphCondAssignDefault);
  const auto bodies = choose(graph_, handle, cudaGraphCondTypeWhile, 1);
  ASSERT_EQ(bodies.size(), 1U);
  const cudaGraphNode_t first = launch(bodies[0], "count_down", {&handle, &data_});
  add(bodies[0], 3, {first});
  cudaGraphExec_t executable = instantiate();
  for (int i = 1; i <= 2; ++i) { // the condition begins anew
    data_[0] = 5;
    launch_and_wait(executable);
    EXPECT_EQ(data_[0], 0U);
    EXPECT_EQ(data_[1], 15U * i);
  }
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(ConditionalNodes, IfTakesOneOfTwo) {
  const cudaGraphConditionalHandle yes = condition(0, 0);
  const cudaGraphConditionalHandle no = condition(1, cudaGraphCondAssignDefault);
  const auto first = choose(graph_, yes, cudaGraphCondTypeIf, 2, {put(yes, 7)});
  const auto second = choose(graph_, no, cudaGraphCondTypeIf, 2, {put(no, 0)});
  const auto alone = choose(graph_, no, cudaGraphCondTypeIf, 1, {put(no, 0)});
  ASSERT_TRUE(first.size() == 2 && second.size() == 2 && alone.size() == 1);
  add(first[0], 1);
  add(first[1], 10);
  add(second[0], 100);
  add(second[1], 1000);
  add(alone[0], 10'000);
  cudaGraphExec_t executable = instantiate();
  launch_and_wait(executable);
  EXPECT_EQ(data_[1], 1001U);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(ConditionalNodes, SwitchTakesTheOneOfThatNumberOrNone) {
  for (const auto& [value, wanted] : {std::pair(0U, 1U), std::pair(2U, 100U), std::pair(3U, 0U)}) {
    cudaGraph_t whole = graph_;
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
    data_[1] = 0;
    const cudaGraphConditionalHandle handle = condition(value, cudaGraphCondAssignDefault);
    const auto bodies = choose(graph_, handle, cudaGraphCondTypeSwitch, 3);
    ASSERT_EQ(bodies.size(), 3U);
    unsigned amount = 1;
    for (cudaGraph_t body : bodies) {
      add(body, amount);
      amount *= 10;
    }
    cudaGraphExec_t executable = instantiate();
    ASSERT_EQ(cudaGraphDestroy(graph_), cudaSuccess); // the executable has its own
    graph_ = whole;
    launch_and_wait(executable);
    EXPECT_EQ(data_[1], wanted) << value;
    EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  }
}

TEST_F(ConditionalNodes, StandInEachOther) {
  cudaGraphConditionalHandle loop = condition(1, cudaGraphCondAssignDefault);
  const cudaGraphConditionalHandle always = condition(1, cudaGraphCondAssignDefault);
  const auto body = choose(graph_, loop, cudaGraphCondTypeWhile, 1);
  ASSERT_EQ(body.size(), 1U);
  const cudaGraphNode_t count = launch(body[0], "count_down", {&loop, &data_});
  const auto inner = choose(body[0], always, cudaGraphCondTypeIf, 1, {count});
  ASSERT_EQ(inner.size(), 1U);
  const cudaGraphNode_t changed = add(inner[0], 2);
  cudaGraphExec_t executable = instantiate();
  // A node of a body is changed in the executable alone.
  unsigned other = 4;
  std::array<void*, 2> arguments = {&data_, &other};
  cudaKernelNodeParams parameters{};
  ASSERT_EQ(cudaGraphKernelNodeGetParams(changed, &parameters), cudaSuccess);
  parameters.kernelParams = arguments.data();
  ASSERT_EQ(cudaGraphExecKernelNodeSetParams(executable, changed, &parameters), cudaSuccess);
  data_[0] = 6;
  launch_and_wait(executable);
  EXPECT_EQ(data_[1], 24U);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(ConditionalNodes, ANodeSaysWhatItWasMadeOf) {
  const cudaGraphConditionalHandle handle = condition(1, 0);
  const cudaGraphNode_t launched = add(graph_, 3);
  const auto bodies = choose(graph_, handle, cudaGraphCondTypeSwitch, 2, {launched});
  ASSERT_EQ(bodies.size(), 2U);
  std::array<cudaGraphNode_t, 2> nodes{};
  std::size_t count = nodes.size();
  ASSERT_EQ(cudaGraphGetNodes(graph_, nodes.data(), &count), cudaSuccess);
  CUgraphNodeParams said{};
  ASSERT_EQ(cuGraphNodeGetParams(nodes[1], &said), CUDA_SUCCESS);
  EXPECT_EQ(said.type, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  EXPECT_EQ(said.conditional.handle, handle);
  EXPECT_EQ(said.conditional.size, 2U);
  EXPECT_EQ(said.conditional.phGraph_out[1], bodies[1]);
  ASSERT_EQ(cuGraphNodeGetParams(nodes[0], &said), CUDA_SUCCESS);
  EXPECT_EQ(said.type, CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(said.kernel.gridDimX, 1U);
  EXPECT_EQ(*static_cast<unsigned*>(said.kernel.kernelParams[1]), 3U);
  cudaGraphNode_t copied = nullptr;
  ASSERT_EQ(
      cudaGraphAddMemcpyNode1D(&copied, graph_, nullptr, 0, data_, data_ + 1, 4, cudaMemcpyDefault),
      cudaSuccess);
  ASSERT_EQ(cuGraphNodeGetParams(copied, &said), CUDA_SUCCESS);
  EXPECT_EQ(said.memcpy.copyParams.WidthInBytes, 4U);
  EXPECT_EQ(said.memcpy.copyParams.srcPitch, 0U) << "one row has none";
  EXPECT_EQ(cuGraphNodeGetParams(nullptr, &said), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ConditionalNodes, WhatIsNotRightIsRefused) {
  const cudaGraphConditionalHandle handle = condition(1, 0);
  EXPECT_TRUE(choose(graph_, handle, cudaGraphCondTypeWhile, 2).empty());
  EXPECT_TRUE(choose(graph_, handle, cudaGraphCondTypeIf, 3).empty());
  EXPECT_TRUE(choose(graph_, handle, cudaGraphCondTypeSwitch, 0).empty());
  EXPECT_TRUE(choose(graph_, handle + 4, cudaGraphCondTypeIf, 1).empty());
  cudaGraphConditionalHandle none = 0;
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&none, nullptr, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&none, graph_, 0, 2), cudaErrorInvalidValue);
  cudaGraph_t body = choose(graph_, handle, cudaGraphCondTypeIf, 1).at(0);
  EXPECT_EQ(cudaGraphDestroy(body), cudaErrorInvalidValue); // it is its node's
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  EXPECT_TRUE(choose(other, handle, cudaGraphCondTypeIf, 1).empty()) << "another graph's condition";
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
}

} // namespace
