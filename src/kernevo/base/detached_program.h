// A program that serves a library inside somebody else's process.
#pragma once

#include "kernevo/base/message_socket.h"
#include "kernevo/base/result.h"

#include <string>
#include <vector>

namespace kernevo {

// Starts the program with its end of a channel as descriptor 3, standard streams on /dev/null and
// nothing else open, in a session of its own: no key pressed on our terminal reaches it. It is no
// child of ours: a caller that waits for all its children, or counts the signals of their ends,
// never meets it. It should end when its channel closes. That it could not be started shows in the
// channel, which is then closed.
Result<FileDescriptor> start_detached(const std::string& program,
                                      const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment);

} // namespace kernevo
