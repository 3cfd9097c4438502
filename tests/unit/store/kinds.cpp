#include "kinds.h"

namespace kernevo::store {

const std::vector<KindEntry>& all_kinds() {
  static const std::vector<KindEntry> kinds = {
      {"sqlite", make_sqlite_kind},
      {"memory", make_memory_kind},
  };
  return kinds;
}

} // namespace kernevo::store
