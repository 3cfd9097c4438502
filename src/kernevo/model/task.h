// What to optimise. Made by task/ from a file; every other part only reads it.
#pragma once

#include "kernevo/base/expression.h"
#include "kernevo/base/result.h"
#include "kernevo/model/dtype.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

using Dims = std::map<std::string, std::int64_t>;

enum class Direction { in, out, inout };

// How an input is filled when nothing more specific is asked for.
struct Distribution {
  enum class Kind { normal, uniform, integers, zeros, wide, denormal, constant, indices };
  Kind kind = Kind::normal;
  double low = 0.0; // uniform, integers, indices: smallest; normal: mean; constant: the value
  double high =
      1.0; // uniform, integers, indices: largest (inclusive for integers); normal: deviation

  bool operator==(const Distribution&) const = default;
};

struct ArgumentSpec {
  std::string name;
  Direction direction = Direction::in;
  DType dtype = DType::float32;
  std::vector<Expression> shape; // over the dimensions; empty for a single element
  Distribution initial;
  // True for inputs whose meaning fixes their distribution (indices, variances): the check never
  // replaces it with a harder one.
  bool fixed_distribution = false;
};

// A scalar kernel argument that is not a dimension: eps, scale, alpha.
struct ScalarSpec {
  std::string name;
  DType dtype = DType::float32;
  double value = 0.0;
};

struct ShapeCase {
  std::string id;
  Dims dims; // every dimension and integer attribute of the operation
  double weight = 1.0;
  std::optional<double> tolerance;
  bool profile = false;

  bool operator==(const ShapeCase&) const = default;
};

enum class Objective { geometric_mean_speedup, weighted_mean_time, worst_case_time };

struct Budget {
  std::optional<int> rounds;
  std::optional<int> evaluations;
  std::optional<double> seconds;
};

struct WorkModel {
  std::optional<Expression> flops; // operations of one run, over the dimensions
  std::optional<Expression> bytes; // compulsory traffic of one run
};

enum class OracleKind {
  catalogue,        // float64 in C++, independent of any kernel
  reference_kernel, // the task's own reference, run on the virtual GPU
};

struct Task {
  std::string name;      // file stem or the name given
  std::string operation; // catalogue name, or "custom"
  std::string semantics; // one line for people
  DType dtype = DType::float32;
  std::string target_gpu = "A100";
  std::vector<ArgumentSpec> arguments;
  std::vector<ScalarSpec> scalars;
  std::vector<ShapeCase> shapes; // what is optimised
  // Listed by the task file and hidden from proposers, beside those that every check draws.
  std::vector<ShapeCase> check_shapes;
  bool check_shapes_given = false; // by the task file: then no smaller shapes are made up
  std::optional<double> tolerance; // declared; relative to max(|expected|, twice the output's rms)
  bool allow_tf32 = false;
  Objective objective = Objective::geometric_mean_speedup;
  std::optional<double> target_us;
  std::optional<double> declared_baseline_us; // never believed, only reported
  Budget budget;
  WorkModel work;
  OracleKind oracle = OracleKind::catalogue;
  std::string default_launch;   // the text after '@launch', for kernels that bring none
  std::string reference_kernel; // CUDA source; may be empty for catalogue operations
  Place reference_place;        // where that source stands, for compile errors
  std::string file;
};

// One tensor of a concrete case.
struct BufferSpec {
  std::string name;
  Direction direction = Direction::in;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  Distribution initial;
  bool fixed_distribution = false;

  std::int64_t elements() const;
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(elements()) * size_of(dtype); }
};

// A task at one shape: everything symbolic is a number now.
struct Problem {
  std::string operation;
  DType dtype = DType::float32;
  std::string case_id;
  Dims dims;
  std::vector<ScalarSpec> scalars;
  std::vector<BufferSpec> buffers; // in the task's argument order
  std::optional<double> tolerance;
  bool allow_tf32 = false;

  const BufferSpec* find_buffer(const std::string& name) const;
};

// Evaluates the task's shape expressions at this case.
Result<Problem> make_problem(const Task& task, const ShapeCase& shape);

} // namespace kernevo
