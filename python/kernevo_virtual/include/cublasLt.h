/* cuBLASLt is not on the virtual GPU; torch's headers name its handle. */
#ifndef KERNEVO_CUBLASLT_H
#define KERNEVO_CUBLASLT_H

#include "cublas_api.h"

struct cublasLtContext;
typedef struct cublasLtContext* cublasLtHandle_t;

#endif
