#include "kernevo/cuda/core/errors.h"

#include <algorithm>
#include <array>

namespace kernevo::cuda {
namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
#define KERNEVO_ERROR(name, text)                                                                  \
  ErrorText {                                                                                      \
    name, #name, text                                                                              \
  } // the name is said once
constexpr std::array kErrors = {
    KERNEVO_ERROR(cudaSuccess, "no error"),
    KERNEVO_ERROR(cudaErrorInvalidValue, "invalid argument"),
    KERNEVO_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    KERNEVO_ERROR(cudaErrorInitializationError, "initialization error"),
    KERNEVO_ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    KERNEVO_ERROR(cudaErrorProfilerDisabled,
                  "profiler disabled while using external profiling tool"),
    KERNEVO_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    KERNEVO_ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    KERNEVO_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    KERNEVO_ERROR(cudaErrorInvalidHostPointer, "invalid host pointer"),
    KERNEVO_ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    KERNEVO_ERROR(cudaErrorInvalidTexture, "invalid texture reference"),
    KERNEVO_ERROR(cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"),
    KERNEVO_ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    KERNEVO_ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    KERNEVO_ERROR(cudaErrorInvalidFilterSetting,
                  "linear filtering not supported for non-float type"),
    KERNEVO_ERROR(cudaErrorInvalidNormSetting,
                  "read as normalized float not supported for 32-bit non float type"),
    KERNEVO_ERROR(cudaErrorInsufficientDriver,
                  "CUDA driver version is insufficient for CUDA runtime version"),
    KERNEVO_ERROR(cudaErrorInvalidSurface, "invalid surface reference"),
    KERNEVO_ERROR(cudaErrorDuplicateVariableName,
                  "duplicate global variable looked up by string name"),
    KERNEVO_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    KERNEVO_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    KERNEVO_ERROR(cudaErrorLaunchMaxDepthExceeded,
                  "launch would exceed maximum depth of nested launches"),
    KERNEVO_ERROR(
        cudaErrorLaunchPendingCountExceeded,
        "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"),
    KERNEVO_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    KERNEVO_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    KERNEVO_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    KERNEVO_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    KERNEVO_ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    KERNEVO_ERROR(cudaErrorNoKernelImageForDevice,
                  "no kernel image is available for execution on the device"),
    KERNEVO_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    KERNEVO_ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    KERNEVO_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    KERNEVO_ERROR(cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"),
    KERNEVO_ERROR(cudaErrorFileNotFound, "file not found"),
    KERNEVO_ERROR(cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"),
    KERNEVO_ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    KERNEVO_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    KERNEVO_ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    KERNEVO_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    KERNEVO_ERROR(cudaErrorNotReady, "device not ready"),
    KERNEVO_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    KERNEVO_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    KERNEVO_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    KERNEVO_ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    KERNEVO_ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    KERNEVO_ERROR(cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"),
    KERNEVO_ERROR(cudaErrorAssert, "device-side assert triggered"),
    KERNEVO_ERROR(cudaErrorTooManyPeers, "peer mapping resources exhausted"),
    KERNEVO_ERROR(cudaErrorHostMemoryAlreadyRegistered,
                  "part or all of the requested memory range is already mapped"),
    KERNEVO_ERROR(cudaErrorHostMemoryNotRegistered,
                  "pointer does not correspond to a registered memory region"),
    KERNEVO_ERROR(cudaErrorHardwareStackError, "hardware stack error"),
    KERNEVO_ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    KERNEVO_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    KERNEVO_ERROR(cudaErrorInvalidAddressSpace,
                  "operation not supported on global/shared address space"),
    KERNEVO_ERROR(cudaErrorInvalidPc, "invalid program counter"),
    KERNEVO_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    KERNEVO_ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    KERNEVO_ERROR(cudaErrorNotPermitted, "operation not permitted"),
    KERNEVO_ERROR(cudaErrorNotSupported, "operation not supported"),
    KERNEVO_ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    KERNEVO_ERROR(cudaErrorStreamCaptureUnsupported,
                  "operation not permitted when stream is capturing"),
    KERNEVO_ERROR(cudaErrorStreamCaptureInvalidated,
                  "operation failed due to a previous error during capture"),
    KERNEVO_ERROR(cudaErrorStreamCaptureMerge,
                  "operation would result in a merge of separate capture sequences"),
    KERNEVO_ERROR(cudaErrorStreamCaptureUnmatched,
                  "capture was not ended in the same stream as it began"),
    KERNEVO_ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    KERNEVO_ERROR(cudaErrorStreamCaptureIsolation,
                  "dependency created on uncaptured work in another stream"),
    KERNEVO_ERROR(cudaErrorStreamCaptureImplicit,
                  "operation would make the legacy stream depend on a capturing blocking stream"),
    KERNEVO_ERROR(cudaErrorCapturedEvent,
                  "operation not permitted on an event last recorded in a capturing stream"),
    KERNEVO_ERROR(cudaErrorStreamCaptureWrongThread,
                  "attempt to terminate a thread-local capture sequence from another thread"),
    KERNEVO_ERROR(cudaErrorTimeout, "wait operation timed out"),
    KERNEVO_ERROR(cudaErrorGraphExecUpdateFailure,
                  "the graph update was not performed because it included changes which violated "
                  "constraints specific to instantiated graph update"),
    KERNEVO_ERROR(cudaErrorProfilerNotInitialized, "profiler not initialized"),
    KERNEVO_ERROR(cudaErrorProfilerAlreadyStarted, "profiler already started"),
    KERNEVO_ERROR(cudaErrorProfilerAlreadyStopped, "profiler already stopped"),
    KERNEVO_ERROR(cudaErrorVersionTranslation, "version translation"),
    KERNEVO_ERROR(cudaErrorAddressOfConstant, "address of constant"),
    KERNEVO_ERROR(cudaErrorTextureFetchFailed, "texture fetch failed"),
    KERNEVO_ERROR(cudaErrorTextureNotBound, "texture not bound"),
    KERNEVO_ERROR(cudaErrorSynchronizationError, "synchronization error"),
    KERNEVO_ERROR(cudaErrorMixedDeviceExecution, "mixed device execution"),
    KERNEVO_ERROR(cudaErrorNotYetImplemented, "not yet implemented"),
    KERNEVO_ERROR(cudaErrorMemoryValueTooLarge, "memory value too large"),
    KERNEVO_ERROR(cudaErrorStubLibrary, "stub library"),
    KERNEVO_ERROR(cudaErrorCallRequiresNewerDriver, "call requires newer driver"),
    KERNEVO_ERROR(cudaErrorDuplicateTextureName, "duplicate texture name"),
    KERNEVO_ERROR(cudaErrorDuplicateSurfaceName, "duplicate surface name"),
    KERNEVO_ERROR(cudaErrorIncompatibleDriverContext, "incompatible driver context"),
    KERNEVO_ERROR(cudaErrorPriorLaunchFailure, "prior launch failure"),
    KERNEVO_ERROR(cudaErrorLaunchFileScopedTex, "launch file scoped texture"),
    KERNEVO_ERROR(cudaErrorLaunchFileScopedSurf, "launch file scoped surf"),
    KERNEVO_ERROR(cudaErrorSyncDepthExceeded, "sync depth exceeded"),
    KERNEVO_ERROR(cudaErrorDeviceNotLicensed, "device not licensed"),
    KERNEVO_ERROR(cudaErrorSoftwareValidityNotEstablished, "software validity not established"),
    KERNEVO_ERROR(cudaErrorStartupFailure, "startup failure"),
    KERNEVO_ERROR(cudaErrorMapBufferObjectFailed, "map buffer object failed"),
    KERNEVO_ERROR(cudaErrorUnmapBufferObjectFailed, "unmap buffer object failed"),
    KERNEVO_ERROR(cudaErrorArrayIsMapped, "array is mapped"),
    KERNEVO_ERROR(cudaErrorAlreadyMapped, "already mapped"),
    KERNEVO_ERROR(cudaErrorAlreadyAcquired, "already acquired"),
    KERNEVO_ERROR(cudaErrorNotMapped, "not mapped"),
    KERNEVO_ERROR(cudaErrorNotMappedAsArray, "not mapped as array"),
    KERNEVO_ERROR(cudaErrorNotMappedAsPointer, "not mapped as pointer"),
    KERNEVO_ERROR(cudaErrorDeviceAlreadyInUse, "device already in use"),
    KERNEVO_ERROR(cudaErrorPeerAccessUnsupported, "peer access unsupported"),
    KERNEVO_ERROR(cudaErrorNvlinkUncorrectable, "NVLink uncorrectable"),
    KERNEVO_ERROR(cudaErrorJitCompilerNotFound, "JIT compiler not found"),
    KERNEVO_ERROR(cudaErrorUnsupportedPtxVersion, "unsupported PTX version"),
    KERNEVO_ERROR(cudaErrorJitCompilationDisabled, "JIT compilation disabled"),
    KERNEVO_ERROR(cudaErrorUnsupportedExecAffinity, "unsupported exec affinity"),
    KERNEVO_ERROR(cudaErrorUnsupportedDevSideSync, "unsupported dev side sync"),
    KERNEVO_ERROR(cudaErrorContained, "contained"),
    KERNEVO_ERROR(cudaErrorInvalidSource, "invalid source"),
    KERNEVO_ERROR(cudaErrorSharedObjectInitFailed, "shared object init failed"),
    KERNEVO_ERROR(cudaErrorLossyQuery, "lossy query"),
    KERNEVO_ERROR(cudaErrorLaunchIncompatibleTexturing, "launch incompatible texturing"),
    KERNEVO_ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    KERNEVO_ERROR(cudaErrorTensorMemoryLeak, "tensor memory leak"),
    KERNEVO_ERROR(cudaErrorSystemDriverMismatch, "system driver mismatch"),
    KERNEVO_ERROR(cudaErrorCompatNotSupportedOnDevice, "compat not supported on device"),
    KERNEVO_ERROR(cudaErrorMpsConnectionFailed, "MPS connection failed"),
    KERNEVO_ERROR(cudaErrorMpsRpcFailure, "MPS RPC failure"),
    KERNEVO_ERROR(cudaErrorMpsServerNotReady, "MPS server not ready"),
    KERNEVO_ERROR(cudaErrorMpsMaxClientsReached, "MPS max clients reached"),
    KERNEVO_ERROR(cudaErrorMpsMaxConnectionsReached, "MPS max connections reached"),
    KERNEVO_ERROR(cudaErrorMpsClientTerminated, "MPS client terminated"),
    KERNEVO_ERROR(cudaErrorCdpNotSupported, "CDP not supported"),
    KERNEVO_ERROR(cudaErrorCdpVersionMismatch, "CDP version mismatch"),
    KERNEVO_ERROR(cudaErrorExternalDevice, "external device"),
    KERNEVO_ERROR(cudaErrorInvalidClusterSize, "invalid cluster size"),
    KERNEVO_ERROR(cudaErrorFunctionNotLoaded, "function not loaded"),
    KERNEVO_ERROR(cudaErrorInvalidResourceType, "invalid resource type"),
    KERNEVO_ERROR(cudaErrorInvalidResourceConfiguration, "invalid resource configuration"),
    KERNEVO_ERROR(cudaErrorStreamDetached, "stream detached"),
    KERNEVO_ERROR(cudaErrorUnknown, "unknown error"),
};
#undef KERNEVO_ERROR

const ErrorText* text_of(cudaError_t error) {
  const auto* const found = std::find_if(
      kErrors.begin(), kErrors.end(), [&](const ErrorText& known) { return known.error == error; });
  return found == kErrors.end() ? nullptr : found;
}

} // namespace

const char* error_text(cudaError_t error) {
  const ErrorText* const text = text_of(error);
  return text != nullptr ? text->text : "unrecognized error code";
}

const char* error_name(cudaError_t error) {
  const ErrorText* const text = text_of(error);
  return text != nullptr ? text->name : "unrecognized error code";
}

} // namespace kernevo::cuda
