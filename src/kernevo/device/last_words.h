// What a library wrote to standard error before it ended its process: why, in its own words.
#pragma once

#include "kernevo/base/message_socket.h"

#include <string>

namespace kernevo {

class LastWords {
public:
  // Without room for them there will be none.
  LastWords();

  // To be attached to the worker's first message; -1 where there is no room.
  int descriptor() const { return kept_.get(); }
  // The last line, fit for a terminal; empty when nothing was written.
  std::string line() const;

  // The worker's side: its standard error goes there from now on.
  static void keep_in(const FileDescriptor& attached);

private:
  FileDescriptor kept_;
};

} // namespace kernevo
