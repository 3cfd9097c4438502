// The names that nvJitLink.h calls the functions by: one set for each version of the toolkit.
#include "kernevo/cuda/core/trampoline.h"

#define KERNEVO_VERSIONED(version)                                                                 \
  KERNEVO_TRAMPOLINE(__nvJitLinkAddData_##version, nvJitLinkAddData);                              \
  KERNEVO_TRAMPOLINE(__nvJitLinkAddFile_##version, nvJitLinkAddFile);                              \
  KERNEVO_TRAMPOLINE(__nvJitLinkComplete_##version, nvJitLinkComplete);                            \
  KERNEVO_TRAMPOLINE(__nvJitLinkCreate_##version, nvJitLinkCreate);                                \
  KERNEVO_TRAMPOLINE(__nvJitLinkDestroy_##version, nvJitLinkDestroy);                              \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetErrorLog_##version, nvJitLinkGetErrorLog);                      \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetErrorLogSize_##version, nvJitLinkGetErrorLogSize);              \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetInfoLog_##version, nvJitLinkGetInfoLog);                        \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetInfoLogSize_##version, nvJitLinkGetInfoLogSize);                \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetLinkedCubin_##version, nvJitLinkGetLinkedCubin);                \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetLinkedCubinSize_##version, nvJitLinkGetLinkedCubinSize);        \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetLinkedLTOIR_##version, nvJitLinkGetLinkedLTOIR);                \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetLinkedLTOIRSize_##version, nvJitLinkGetLinkedLTOIRSize);        \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetLinkedPtx_##version, nvJitLinkGetLinkedPtx);                    \
  KERNEVO_TRAMPOLINE(__nvJitLinkGetLinkedPtxSize_##version, nvJitLinkGetLinkedPtxSize);

#if KERNEVO_NVJITLINK_MAJOR == 12
KERNEVO_VERSIONED(12_0)
KERNEVO_VERSIONED(12_1)
KERNEVO_VERSIONED(12_2)
KERNEVO_VERSIONED(12_3)
KERNEVO_VERSIONED(12_4)
KERNEVO_VERSIONED(12_5)
KERNEVO_VERSIONED(12_6)
KERNEVO_VERSIONED(12_7)
KERNEVO_VERSIONED(12_8)
KERNEVO_VERSIONED(12_9)
#else
KERNEVO_VERSIONED(13_0)
KERNEVO_VERSIONED(13_1)
KERNEVO_VERSIONED(13_2)
KERNEVO_VERSIONED(13_3)
KERNEVO_VERSIONED(13_4)
KERNEVO_VERSIONED(13_5)
KERNEVO_VERSIONED(13_6)
KERNEVO_VERSIONED(13_7)
KERNEVO_VERSIONED(13_8)
KERNEVO_VERSIONED(13_9)
#endif
