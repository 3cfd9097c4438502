// The worker's role "price": tells a library that runs launches inside some program what they
// cost, so that assembler, disassembler and model stay out of that program.
#pragma once

namespace kernevo {

// Answers the requests on the channel in their order until it closes.
int serve_prices();

} // namespace kernevo
