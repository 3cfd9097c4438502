// Older versions of functions of the driver that differ from the newer ones in their names alone.
#include "kernevo/cuda/core/trampoline.h"

#define KERNEVO_OLDER(older, newer) KERNEVO_TRAMPOLINE(older, newer)
KERNEVO_OLDER(cuCtxCreate, cuCtxCreate_v2);
KERNEVO_OLDER(cuCtxDestroy, cuCtxDestroy_v2);
KERNEVO_OLDER(cuCtxPopCurrent, cuCtxPopCurrent_v2);
KERNEVO_OLDER(cuCtxPushCurrent, cuCtxPushCurrent_v2);
KERNEVO_OLDER(cuDeviceGetUuid, cuDeviceGetUuid_v2);
KERNEVO_OLDER(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);
KERNEVO_OLDER(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
KERNEVO_OLDER(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);
KERNEVO_OLDER(cuEventDestroy, cuEventDestroy_v2);
KERNEVO_OLDER(cuEventElapsedTime, cuEventElapsedTime_v2);
KERNEVO_OLDER(cuLinkAddData, cuLinkAddData_v2);
KERNEVO_OLDER(cuLinkAddFile, cuLinkAddFile_v2);
KERNEVO_OLDER(cuLinkCreate, cuLinkCreate_v2);
KERNEVO_OLDER(cuMemHostRegister, cuMemHostRegister_v2);
KERNEVO_OLDER(cuStreamDestroy, cuStreamDestroy_v2);
KERNEVO_OLDER(cuStreamWaitValue32, cuStreamWaitValue32_v2);
KERNEVO_OLDER(cuStreamWaitValue64, cuStreamWaitValue64_v2);
KERNEVO_OLDER(cuStreamWriteValue32, cuStreamWriteValue32_v2);
KERNEVO_OLDER(cuStreamWriteValue64, cuStreamWriteValue64_v2);
