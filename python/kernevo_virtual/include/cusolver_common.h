/* cuSOLVER is not on the virtual GPU; torch's headers name its statuses. */
#ifndef KERNEVO_CUSOLVER_COMMON_H
#define KERNEVO_CUSOLVER_COMMON_H

#include <cuComplex.h>
#include <driver_types.h>
#include <library_types.h>

typedef enum {
  CUSOLVER_STATUS_SUCCESS = 0,
  CUSOLVER_STATUS_NOT_INITIALIZED = 1,
  CUSOLVER_STATUS_ALLOC_FAILED = 2,
  CUSOLVER_STATUS_INVALID_VALUE = 3,
  CUSOLVER_STATUS_ARCH_MISMATCH = 4,
  CUSOLVER_STATUS_EXECUTION_FAILED = 6,
  CUSOLVER_STATUS_INTERNAL_ERROR = 7,
  CUSOLVER_STATUS_NOT_SUPPORTED = 9
} cusolverStatus_t;

#endif
