// The compiler in a process of its own: a source that makes it crash, swell or never end is a
// diagnosis, not our trouble.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/worker_process.h"
#include "kernevo/model/build.h"
#include "kernevo/toolchain/toolchain.h"

namespace kernevo {

struct CompileLimits {
  double seconds = 60;
  std::uint64_t memory_bytes = std::uint64_t{6} << 30U;
};

// The build cache's answer, or compile_afresh(), confined: it reads the toolkit, writes to a folder
// of its own, and we keep the caches. A compiler that died or ran over its limit gives a Build that
// is not ok and says so in its diagnostics; one that the system killed is the machine's trouble.
Result<Build> compile_confined(const CompileRequest& request, const CompileLimits& limits = {});

// The same where a source that does not compile is an input error with its place.
Result<Build> build_or_fail(const CompileRequest& request);

// The worker's role "compile"; its nursery is prepared with our settings.
WorkerRole compiler_role();

} // namespace kernevo
