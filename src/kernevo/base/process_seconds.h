// What this process has computed so far, on all its threads.
#pragma once

namespace kernevo {

double process_seconds();

} // namespace kernevo
