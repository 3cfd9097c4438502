/* cuSOLVER is not on the virtual GPU; torch's headers name its handle. */
#ifndef KERNEVO_CUSOLVERDN_H
#define KERNEVO_CUSOLVERDN_H

#include "cublas_v2.h"
#include "cusolver_common.h"

struct cusolverDnContext;
typedef struct cusolverDnContext* cusolverDnHandle_t;

#endif
