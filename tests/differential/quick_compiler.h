// Chooses for every compilation between quick and good code, which the tier does by cost.
#pragma once

namespace kernevo::test {

// True: everything compiled from now on gets the better code.
void set_optimised(bool optimised);

} // namespace kernevo::test
