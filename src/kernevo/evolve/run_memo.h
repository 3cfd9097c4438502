// The memory of a run: its journal's, and behind it one shared with other runs, if there is any.
#pragma once

#include "kernevo/evolve/memo.h"
#include "kernevo/store/journal.h"

namespace kernevo::evolve {

class RunMemo : public Memo {
public:
  RunMemo(store::Journal& journal, Memo* shared) : journal_(journal), shared_(shared) {}

  Result<std::optional<std::string>> recall(const std::string& key) override {
    KERNEVO_TRY(own, journal_.recall(key));
    if (own || shared_ == nullptr)
      return std::move(own);
    return shared_->recall(key);
  }
  Result<void> remember(const std::string& key, std::string_view body) override {
    KERNEVO_CHECK(journal_.remember(key, body));
    return shared_ == nullptr ? Result<void>() : shared_->remember(key, body);
  }

private:
  store::Journal& journal_;
  Memo* shared_;
};

} // namespace kernevo::evolve
