// What the stand-in for cuBLAS asks of torch's operators: one product of matrices, or a batch of
// them.
#pragma once

#include <library_types.h>

extern "C" {

// Matrices are column by column: element (row, column) is at row + column * step.
struct KernevoMatrix {
  const void* data;
  cudaDataType type;
  int transposed;      // of the product: the memory holds the other one
  long long step;      // from a column to the next
  long long next;      // from a matrix of a batch to the next
  long long increment; // from a row to the next
};

// c = alpha * a * b + beta * c, with a of rows x inner and b of inner x columns.
struct KernevoProduct {
  long long rows, columns, inner, batches;
  double alpha, beta;
  KernevoMatrix a, b, c;
  void* stream;
};

// 0, or a cublasStatus_t.
using KernevoMultiply = int (*)(const KernevoProduct*);
// Exported by the stand-in; called when torch's operators are in place.
void kernevo_cublas_connect(KernevoMultiply multiply);
}
