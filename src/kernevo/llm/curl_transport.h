// The transport over the network.
#pragma once

#include "kernevo/llm/transport.h"

#include <memory>

namespace kernevo::llm {

// http and https alone, and no redirects: a key goes to the address it was given for.
std::shared_ptr<Transport> make_curl_transport();

} // namespace kernevo::llm
