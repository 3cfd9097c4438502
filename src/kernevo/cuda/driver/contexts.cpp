// The driver's interface: contexts.
#include "kernevo/cuda/core/contexts.h"
#include "kernevo/cuda/common/identity.h"

#include "kernevo/cuda/core/device.h"
#include "kernevo/cuda/core/session.h"
#include "kernevo/cuda/core/streams.h"
#include "kernevo/cuda/driver/driver.h"

#include <algorithm>

using namespace kernevo::cuda; // NOLINT(google-build-using-namespace)

namespace {

constexpr unsigned kFlags = CU_CTX_FLAGS_MASK;

CUresult create(CUcontext* context, unsigned flags, CUdevice device, unsigned version) {
  KERNEVO_NEED(context);
  if (const CUresult no = device_of(device); no != CUDA_SUCCESS)
    return no;
  if ((flags & ~kFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *context = new_context(flags, version);
  current_contexts().push_back(*context);
  return CUDA_SUCCESS;
}

// The current one when none is named. Null when there is no such context.
CUctx_st* context_or_current(CUcontext context) {
  if (context == nullptr)
    return current_context();
  return CUctx_st::has(context) ? context : nullptr;
}

} // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  KERNEVO_NEED(context);
  if (const CUresult no = device_of(device); no != CUDA_SUCCESS)
    return no;
  retain_primary();
  announce_process();
  *context = &primary_context();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  if (const CUresult no = device_of(device); no != CUDA_SUCCESS)
    return no;
  return release_primary() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  if (const CUresult no = device_of(device); no != CUDA_SUCCESS)
    return no;
  wait_for_all_work();
  reset_primary();
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  if (const CUresult no = device_of(device); no != CUDA_SUCCESS)
    return no;
  if ((flags & ~kFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  primary_context().flags = flags;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  KERNEVO_NEED(flags);
  KERNEVO_NEED(active);
  if (const CUresult no = device_of(device); no != CUDA_SUCCESS)
    return no;
  *flags = primary_context().flags;
  *active = primary_is_active() ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device, 3020);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* /*affinity*/, int /*count*/,
                        unsigned flags, CUdevice device) {
  return create(context, flags, device, 3020);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* /*parameters*/, unsigned flags,
                        CUdevice device) {
  return create(context, flags, device, 3020);
}
CUresult cuCtxDestroy(CUcontext context) {
  if (!CUctx_st::has(context) || context->is_primary)
    return CUDA_ERROR_INVALID_CONTEXT;
  wait_for_all_work();
  if (current_context() == context)
    current_contexts().pop_back();
  delete context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (const CUresult no = device_of(0); no != CUDA_SUCCESS)
    return no;
  if (context != nullptr && !CUctx_st::has(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = current_contexts();
  if (!stack.empty())
    stack.pop_back();
  if (context != nullptr)
    stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  KERNEVO_NEED(context);
  if (const CUresult no = device_of(0); no != CUDA_SUCCESS)
    return no;
  *context = current_context();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  if (const CUresult no = device_of(0); no != CUDA_SUCCESS)
    return no;
  if (!CUctx_st::has(context))
    return CUDA_ERROR_INVALID_CONTEXT;
  current_contexts().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  CUctx_st* const top = current_context();
  if (top == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr)
    *context = top;
  current_contexts().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  KERNEVO_NEED(device);
  KERNEVO_READY();
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  KERNEVO_NEED(device);
  if (context_or_current(context) == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetFlags(unsigned* flags) {
  KERNEVO_NEED(flags);
  KERNEVO_READY();
  *flags = current_context()->flags;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetFlags(unsigned flags) {
  KERNEVO_READY();
  if ((flags & ~kFlags) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  current_context()->flags = flags;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  KERNEVO_NEED(id);
  const CUctx_st* const found = context_or_current(context);
  if (found == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  *id = found->id;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  KERNEVO_NEED(version);
  const CUctx_st* const found = context_or_current(context);
  if (found == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  *version = found->version;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  KERNEVO_READY();
  return driver_result(synchronize_device());
}
CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (context_or_current(context) == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  return driver_result(synchronize_device());
}
CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(set_limit(static_cast<cudaLimit>(limit), value));
}
CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  KERNEVO_NEED(value);
  KERNEVO_READY();
  const KeepsLastError keeps;
  return driver_result(get_limit(value, static_cast<cudaLimit>(limit)));
}
CUresult cuCtxSetCacheConfig(CUfunc_cache /*config*/) {
  return ready();
}
CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  KERNEVO_NEED(config);
  KERNEVO_READY();
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(CUsharedconfig /*config*/) {
  return ready();
}
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  KERNEVO_NEED(config);
  KERNEVO_READY();
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() {
  return ready();
}
CUresult cuCtxGetExecAffinity(CUexecAffinityParam* /*affinity*/, CUexecAffinityType /*type*/) {
  return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  KERNEVO_READY();
  return driver_result(stream_priorities(least, greatest));
}
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned /*flags*/) {
  KERNEVO_READY();
  return CUctx_st::has(peer) ? CUDA_ERROR_PEER_ACCESS_UNSUPPORTED : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  KERNEVO_READY();
  return CUctx_st::has(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxAttach(CUcontext* context, unsigned flags) {
  KERNEVO_NEED(context);
  KERNEVO_READY();
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}
CUresult cuCtxDetach(CUcontext context) {
  return CUctx_st::has(context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

} // extern "C"
