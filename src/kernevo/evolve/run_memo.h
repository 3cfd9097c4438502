// The memory of a run: its own, and behind it one shared with other runs, if there is any.
#pragma once

#include "kernevo/store/memo.h"

namespace kernevo::evolve {

class RunMemo : public store::Memo {
public:
  RunMemo(store::Memo& own, store::Memo* shared) : own_(own), shared_(shared) {}

  Result<std::optional<std::string>> recall(const std::string& key) override {
    KERNEVO_TRY(known, own_.recall(key));
    if (known || shared_ == nullptr)
      return std::move(known);
    return shared_->recall(key);
  }
  Result<void> remember(const std::string& key, std::string_view body) override {
    KERNEVO_CHECK(own_.remember(key, body));
    return shared_ == nullptr ? Result<void>() : shared_->remember(key, body);
  }

private:
  store::Memo& own_;
  store::Memo* shared_;
};

} // namespace kernevo::evolve
