// On top of tensor.h: what makes a Python module of functions.
#include "again.h"
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
