// Graphs as a program uses them, rightly and wrongly.
#include "cuda_program.h"

#include <array>
#include <atomic>
#include <gtest/gtest.h>

namespace {

void count_up(void* number) {
  ++*static_cast<int*>(number);
}

class CudaGraph : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(set_factor(2), cudaSuccess);
    data_ = device_vector({1});
    ASSERT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  }
  void TearDown() override {
    cudaGraphDestroy(graph_);
    cudaFree(data_);
    (void)cudaGetLastError();
  }
  cudaKernelNodeParams kernel() {
    cudaKernelNodeParams parameters{};
    parameters.func = &program().scale;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments_.data();
    return parameters;
  }
  cudaGraphNode_t launch(const std::vector<cudaGraphNode_t>& after = {}) {
    const cudaKernelNodeParams parameters = kernel();
    cudaGraphNode_t node = nullptr;
    EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, after.data(), after.size(), &parameters),
              cudaSuccess);
    return node;
  }
  cudaGraphExec_t made() {
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
    return executable;
  }
  float value() const { return host_vector(data_, 1).front(); }

  float* data_ = nullptr;
  std::array<void*, 1> arguments_ = {static_cast<void*>(&data_)};
  cudaGraph_t graph_ = nullptr;
};

TEST_F(CudaGraph, AnExecutableOutlivesItsGraph) {
  launch({launch()});
  const cudaGraphExec_t executable = made();
  ASSERT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(value(), 4);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(value(), 4);
}

TEST_F(CudaGraph, ADestroyedGraphIsRefusedByEveryCall) {
  const cudaGraphNode_t node = launch();
  ASSERT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  cudaGraph_t copy = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaGraphNode_t another = nullptr;
  cudaGraphNodeType type{};
  std::size_t count = 0;
  cudaKernelNodeParams parameters = kernel();
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphClone(&copy, graph_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetRootNodes(graph_, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphGetEdges(graph_, nullptr, nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(&another, graph_, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddKernelNode(&another, graph_, nullptr, 0, &parameters),
            cudaErrorInvalidValue);
  // Its nodes are gone with it.
  EXPECT_EQ(cudaGraphNodeGetType(node, &type), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeGetParams(node, &parameters), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphKernelNodeSetParams(node, &parameters), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphNodeGetDependencies(node, nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroyNode(node), cudaErrorInvalidValue);
}

TEST_F(CudaGraph, EdgesStayInsideTheGraph) {
  cudaGraph_t other = nullptr;
  ASSERT_EQ(cudaGraphCreate(&other, 0), cudaSuccess);
  cudaGraphNode_t foreign = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0), cudaSuccess);
  const cudaGraphNode_t mine = launch();
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, &foreign, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &mine, &foreign, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &foreign, &mine, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &foreign, &mine, nullptr, 1),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, nullptr, nullptr, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEmptyNode(nullptr, graph_, nullptr, 0), cudaErrorInvalidValue);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1U) << "what was refused left nothing";
  EXPECT_EQ(cudaGraphDestroy(other), cudaSuccess);
}

TEST_F(CudaGraph, ANodeWithoutItsParametersIsRefused) {
  cudaGraphNode_t node = nullptr;
  cudaHostNodeParams host{};
  cudaKernelNodeParams unknown = kernel();
  unknown.func = &unknown;
  cudaKernelNodeParams bare = kernel();
  bare.kernelParams = nullptr;
  EXPECT_EQ(cudaGraphAddHostNode(&node, graph_, nullptr, 0, &host), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddHostNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &unknown), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &bare), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemcpyNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddEventRecordNode(&node, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 0U);
}

TEST_F(CudaGraph, AWrongNodeFailsTheLaunchAndWhatFollows) {
  cudaMemsetParams fill{};
  fill.dst = data_;
  fill.elementSize = 4;
  fill.width = 100;
  fill.height = 1;
  cudaGraphNode_t wrong = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&wrong, graph_, nullptr, 0, &fill), cudaSuccess);
  launch({wrong});
  const cudaGraphExec_t executable = made();
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorInvalidValue) << "told to who waits";
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << "once";
  EXPECT_EQ(value(), 1);
  fill.width = 1;
  fill.value = 0x40400000; // 3.0f
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable, wrong, &fill), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(value(), 6);
  fill.elementSize = 3;
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(executable, wrong, &fill), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(CudaGraph, NodesOfAnExecutableAreSwitchedAndChanged) {
  const cudaGraphNode_t first = launch();
  const cudaGraphNode_t second = launch({first});
  const cudaGraphExec_t executable = made();
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, second, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(value(), 2);
  unsigned enabled = 1;
  EXPECT_EQ(cudaGraphNodeGetEnabled(executable, second, &enabled), cudaSuccess);
  EXPECT_EQ(enabled, 0U);
  cudaGraphNode_t late = nullptr;
  ASSERT_EQ(cudaGraphAddEmptyNode(&late, graph_, nullptr, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphNodeSetEnabled(executable, late, 0), cudaErrorInvalidValue)
      << "added after the executable was made";
  float* other = device_vector({5});
  std::array<void*, 1> arguments = {static_cast<void*>(&other)};
  cudaKernelNodeParams changed = kernel();
  changed.kernelParams = arguments.data();
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, first, &changed), cudaSuccess);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, first, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(nullptr, first, &changed), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(host_vector(other, 1).front(), 10);
  EXPECT_EQ(value(), 2);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
}

TEST_F(CudaGraph, AnUpdateNeedsTheSameShape) {
  launch();
  const cudaGraphExec_t executable = made();
  launch();
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_EQ(cudaGraphExecUpdate(executable, graph_, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  cudaGraph_t host = nullptr;
  ASSERT_EQ(cudaGraphCreate(&host, 0), cudaSuccess);
  int called = 0;
  const cudaHostNodeParams parameters{count_up, &called};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&node, host, nullptr, 0, &parameters), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(executable, host, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_EQ(cudaGraphExecUpdate(executable, nullptr, &info), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecUpdate(nullptr, graph_, &info), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess) << "it stayed as it was";
  EXPECT_EQ(value(), 2);
  EXPECT_EQ(called, 0);
  EXPECT_EQ(cudaGraphDestroy(host), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(CudaGraph, ChildrenBelongToTheirNode) {
  cudaGraph_t child = nullptr;
  ASSERT_EQ(cudaGraphCreate(&child, 0), cudaSuccess);
  int called = 0;
  const cudaHostNodeParams parameters{count_up, &called};
  cudaGraphNode_t node = nullptr;
  ASSERT_EQ(cudaGraphAddHostNode(&node, child, nullptr, 0, &parameters), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&node, graph_, nullptr, 0, child), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess) << "the node has a copy";
  cudaGraph_t inside = nullptr;
  ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &inside), cudaSuccess);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(inside, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(cudaGraphDestroy(inside), cudaErrorInvalidValue);
  const cudaGraphExec_t executable = made();
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

TEST_F(CudaGraph, ALaunchMayBeCapturedAndItsExecutableDestroyed) {
  launch();
  const cudaGraphExec_t inner = made();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(inner, stream), cudaSuccess);
  cudaGraph_t captured = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
  cudaGraphExec_t outer = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&outer, captured, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(outer, stream), cudaSuccess);
  EXPECT_EQ(value(), 2);
  ASSERT_EQ(cudaGraphExecDestroy(inner), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(outer, stream), cudaSuccess);
  EXPECT_EQ(value(), 4) << "the captured graph holds what it does";
  cudaGraphExecDestroy(outer);
  cudaGraphDestroy(captured);
  cudaStreamDestroy(stream);
}

TEST_F(CudaGraph, MemoryOfAGraphHasItsAddressBeforeTheLaunch) {
  cudaMemAllocNodeParams allocation{};
  allocation.bytesize = 4;
  cudaGraphNode_t made_here = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&made_here, graph_, nullptr, 0, &allocation), cudaSuccess);
  ASSERT_NE(allocation.dptr, nullptr);
  cudaGraphNode_t copied = nullptr;
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copied, graph_, &made_here, 1, allocation.dptr, data_, 4,
                                     cudaMemcpyDeviceToDevice),
            cudaSuccess);
  cudaGraphNode_t freed = nullptr;
  ASSERT_EQ(cudaGraphAddMemFreeNode(&freed, graph_, &copied, 1, allocation.dptr), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroyNode(copied), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph_, &copied, &freed, nullptr, 1),
            cudaErrorNotSupported);
  cudaGraphNode_t nothing = nullptr;
  EXPECT_EQ(cudaGraphAddMemFreeNode(&nothing, graph_, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &freed, &freed, nullptr, 1), cudaErrorInvalidValue);
  const cudaGraphExec_t executable = made();
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess) << "again, with the same memory";
  EXPECT_EQ(host_vector(allocation.dptr, 1).front(), 1);
  allocation.bytesize = 0;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&made_here, graph_, nullptr, 0, &allocation),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
}

// The graph writes there again at each launch, so nobody else may have it meanwhile.
TEST_F(CudaGraph, MemoryAllocatedWhileItIsCapturedStaysItsOwn) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  constexpr std::size_t bytes = 12345;
  void* between = nullptr;
  ASSERT_EQ(cudaMalloc(&between, bytes), cudaSuccess);
  EXPECT_EQ(cudaMemsetAsync(between, 0x40, bytes, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(data_, between, sizeof(float), cudaMemcpyDeviceToDevice, stream),
            cudaSuccess);
  EXPECT_EQ(cudaFree(between), cudaSuccess);
  cudaGraph_t captured = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &captured), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, captured, 0), cudaSuccess);
  void* other = nullptr; // after the capture memory is free when it is given back
  ASSERT_EQ(cudaMalloc(&other, bytes), cudaSuccess);
  EXPECT_NE(other, between);
  ASSERT_EQ(cudaMemset(other, 0, bytes), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_GT(value(), 3);
  unsigned char first = 1;
  EXPECT_EQ(cudaMemcpy(&first, other, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(cudaFree(other), cudaSuccess);
  EXPECT_EQ(cudaFree(other), cudaErrorInvalidValue);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(captured);
  cudaStreamDestroy(stream);
}

TEST_F(CudaGraph, TheProgramsObjectsGoWithTheLastThatHoldsThem) {
  static std::atomic<int> gone;
  gone = 0;
  cudaUserObject_t object = nullptr;
  EXPECT_EQ(cudaUserObjectCreate(
                &object, nullptr, [](void*) { ++gone; }, 0, cudaUserObjectNoDestructorSync),
            cudaErrorInvalidValue);
  ASSERT_EQ(cudaUserObjectCreate(
                &object, nullptr, [](void*) { ++gone; }, 1, cudaUserObjectNoDestructorSync),
            cudaSuccess);
  ASSERT_EQ(cudaGraphRetainUserObject(graph_, object, 1, cudaGraphUserObjectMove), cudaSuccess);
  const cudaGraphExec_t executable = made();
  EXPECT_EQ(cudaGraphReleaseUserObject(graph_, object, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphReleaseUserObject(graph_, object, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(gone, 0) << "the executable holds it";
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(gone, 1);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue) << "there is none any more";
}

} // namespace
