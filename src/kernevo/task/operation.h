// One row of the operation catalogue, as the parts of task/ share it.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/task.h"
#include "kernevo/task/catalogue.h"

#include <string>
#include <vector>

namespace kernevo {

// How the answer is computed; one oracle and one starter kernel per family.
enum class Family {
  matmul, // transposed, batched and fused variants too
  matvec,
  unary,
  binary,
  axpy,
  bias,
  reduction,
  argmax,
  softmax,
  log_softmax,
  cross_entropy,
  layer_norm,
  rms_norm,
  batch_norm,
  group_norm,
  transpose,
  cumsum,
  conv, // one or two dimensions
  pool,
  embedding,
  attention,
};

// The element type of an argument, given the task's.
enum class ElementType {
  task,        // the task's own
  accumulator, // int32 for int8 tasks, else the task's own
  index,       // int32
};

struct ArgumentTemplate {
  std::string name;
  Direction direction = Direction::in;
  ElementType type = ElementType::task;
  std::vector<std::string> shape;
  Distribution initial;
  bool fixed_distribution = false;
};

// What may happen to a size when a smaller version of a shape is wanted.
enum class Scaling {
  tile,  // kernels tile it: its divisibility is kept
  batch, // independent slices: any number will do
  keep,  // kernels may be written for this value (filter extents, head size, groups)
};

struct Operation {
  OperationInfo info;
  Family family = Family::unary;
  std::string function; // what distinguishes the members of a family: "gelu", "sum", "max"
  bool transposed_a = false;
  bool transposed_b = false;
  bool bias = false;
  bool any_rank = false; // a `shapes` row is any tensor shape; `axis` splits it into OUTER R INNER
  std::vector<Scaling> scaling; // per size
  std::vector<ArgumentTemplate> arguments;
  std::vector<ScalarSpec> scalars;
  std::string flops;
  std::string work;               // multiply-adds or elements visited by a naive kernel
  std::vector<std::string> reads; // per argument, its compulsory elements where not all of them
  std::string launch;
};

const std::vector<Operation>& operation_table();
const Operation* find_table_row(const std::string& name_or_alias);

DType element_type(ElementType type, DType task_dtype);

// The names of the sizes of a shape row, in order.
std::vector<std::string> size_names(const Operation& operation);

// Adds derived sizes (P, Q) and checks what sizes and attributes must satisfy together.
Result<void> derive_dims(const Operation& operation, Dims& dims);

} // namespace kernevo
