// The driver's contexts: which are current in a thread. All of them share the one device and its
// memory; the runtime makes the primary one current when it needs one.
#pragma once

#include "kernevo/cuda/core/live.h"

#include <vector>

struct CUctx_st : kernevo::cuda::Live<CUctx_st> {
  unsigned flags = 0;
  unsigned version = 0;
  unsigned long long id = 0;
  bool is_primary = false;
};

namespace kernevo::cuda {

CUctx_st& primary_context();
// How often it was retained; it is active while that is not 0, or the runtime uses it.
int retain_primary();
// False when nobody had it.
bool release_primary();
bool primary_is_active();
void reset_primary();

CUctx_st* new_context(unsigned flags, unsigned version);
// Null when none is.
CUctx_st* current_context();
std::vector<CUctx_st*>& current_contexts();
// Whether cuInit was called; the runtime does that by itself.
bool is_initialised();
void initialise();
// As the runtime does on first use: makes the primary context current if none is.
void need_context();

} // namespace kernevo::cuda
