// Every function of the library by name, for code that calls it as it is. The name of the table is
// the build's to give: there is one for each level of processors.
#include "kernevo/jit/runtime_table.h"

#define KERNEVO_DECLARE(name) extern "C" void kv_##name();
#define KERNEVO_BOTH(name) KERNEVO_DECLARE(name) KERNEVO_DECLARE(name##_x32)
#define KERNEVO_LANE1(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_LANE2(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_LANE3(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_LANE4(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_PAIR1(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_PAIR2(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_PAIR3(name, ...) KERNEVO_BOTH(name)
#define KERNEVO_LANES(name) KERNEVO_DECLARE(name)
#define KERNEVO_SETP(name, type) KERNEVO_DECLARE(setp_##name##_##type)
#define KERNEVO_SETP_WORD(name, type)                                                              \
  KERNEVO_SETP(name, type) KERNEVO_DECLARE(setp_lines_##name##_##type)
#include "kernevo/jit/runtime/all.def"
#undef KERNEVO_DECLARE

#define KERNEVO_DECLARE(name) {"kv_" #name, &kv_##name},
extern "C" [[gnu::visibility("hidden")]] const kernevo::jit::RuntimeEntry KERNEVO_TABLE[] = {
#include "kernevo/jit/runtime/all.def"
    {nullptr, nullptr}};
