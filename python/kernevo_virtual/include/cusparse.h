/* cuSPARSE is not on the virtual GPU; torch's headers name its handle and its statuses. */
#ifndef KERNEVO_CUSPARSE_H
#define KERNEVO_CUSPARSE_H

#include <cuComplex.h>
#include <driver_types.h>
#include <library_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0,
  CUSPARSE_STATUS_NOT_INITIALIZED = 1,
  CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3,
  CUSPARSE_STATUS_ARCH_MISMATCH = 4,
  CUSPARSE_STATUS_EXECUTION_FAILED = 6,
  CUSPARSE_STATUS_INTERNAL_ERROR = 7,
  CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;

struct cusparseContext;
typedef struct cusparseContext* cusparseHandle_t;

const char* cusparseGetErrorString(cusparseStatus_t status);

#ifdef __cplusplus
}
#endif
#endif
