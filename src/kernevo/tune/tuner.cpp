#include "kernevo/tune/tuner.h"

#include "kernevo/base/job_pool.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>

namespace kernevo::tune {

using search::Configuration;
using search::Outcome;
using search::Trial;

namespace {

constexpr auto kPatience = std::chrono::milliseconds(100); // between two looks at the clock

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Tuner {
public:
  Tuner(const search::SearchSpace& space, TuningObjective& objective, search::TuningLog* log,
        const TunerOptions& options, search::Search& search)
      : space_(space), objective_(objective), log_(log), options_(options), search_(search),
        ahead_(std::max<std::size_t>({1, options.ahead, options.jobs})), pool_(options.jobs) {}

  Result<TuningResult> run() {
    start_ = now();
    KERNEVO_CHECK(take_known());
    for (;;) {
      fill();
      if (asked_.empty())
        break;
      auto trial = next();
      if (!trial)
        break; // dropped before it began
      if (!*trial)
        return tl::unexpected<Error>(trial->error());
      KERNEVO_CHECK(take(std::move(**trial)));
    }
    KERNEVO_CHECK(adopt_logged());
    result_.best = best_ ? std::optional<Trial>(*best_) : std::nullopt;
    return std::move(result_);
  }

private:
  // A question put to the search, and its answer: from the log, or to come.
  struct Asked {
    Configuration configuration = 0;
    std::optional<Trial> logged;
    std::future<Result<Trial>> answer;
  };

  double now() const { return options_.clock ? options_.clock() : steady_seconds(); }

  bool faster_than_best(const Trial& trial) const {
    return trial.time && !trial.partial && (!best_ || *trial.time < *best_->time);
  }

  // It may be the best, and it is worth finding out.
  bool promising(const Trial& trial) const {
    return trial.time && !trial.partial &&
           (!best_ || trial.time->value < best_->time->value * (1 + objective_.doubt()));
  }

  // Looks whether to stop; once decided it stays, but for an interruption, which is always heard.
  bool stopped() {
    const bool was_stopped = stop_.has_value();
    if (was_stopped && *stop_ == TuningStop::interrupted)
      return true;
    if (options_.interrupted && options_.interrupted())
      stop_ = TuningStop::interrupted;
    else if (was_stopped)
      return true;
    else if (options_.evaluations && asked_count_ >= *options_.evaluations)
      stop_ = TuningStop::evaluations;
    else if (options_.seconds && now() - start_ >= *options_.seconds)
      stop_ = TuningStop::seconds;
    if (!stop_)
      return false;
    result_.stop = *stop_;
    if (*stop_ != TuningStop::evaluations)
      pool_.cancel();
    return true;
  }

  void fill() {
    while (asked_.size() < ahead_ && !stopped()) {
      const auto configuration = search_.ask();
      if (!configuration) {
        stop_ = result_.stop = TuningStop::exhausted;
        return;
      }
      ++asked_count_;
      Asked asked{*configuration, std::nullopt, {}};
      const Trial* logged = log_ == nullptr ? nullptr : log_->find(*configuration);
      if (logged != nullptr && (!logged->partial || (best_ && *logged->time >= *best_->time)))
        asked.logged = *logged;
      else
        asked.answer = submit(*configuration);
      asked_.push_back(std::move(asked));
    }
  }

  // The incumbent is the one of this moment, not of the moment a thread gets to it: the moments of
  // asking are the same in every run.
  std::future<Result<Trial>> submit(Configuration configuration) {
    auto promise = std::make_shared<std::promise<Result<Trial>>>();
    auto future = promise->get_future();
    pool_.submit([this, promise, configuration, incumbent = best_] {
      promise->set_value(evaluate(configuration, incumbent.get()));
    });
    return future;
  }

  // A defect of ours that a candidate meets must not take the program with it.
  Result<Trial> evaluate(Configuration configuration, const Trial* incumbent) {
    try {
      return objective_.evaluate(space_.values(configuration), incumbent);
    } catch (const std::exception& problem) {
      return fail(ErrorCode::infrastructure,
                  std::string("internal error: ") + problem.what() + "; please report it");
    }
  }

  // The answer to the oldest question; nothing when it was dropped.
  std::optional<Result<Trial>> next() {
    Asked& oldest = asked_.front();
    if (oldest.logged) {
      Trial trial = std::move(*oldest.logged);
      asked_.pop_front();
      ++result_.from_log;
      return trial;
    }
    while (oldest.answer.wait_for(kPatience) != std::future_status::ready) {
      stopped();
      notify(TuningEvent::waiting, nullptr);
    }
    const Configuration configuration = oldest.configuration;
    std::optional<Result<Trial>> answer;
    try {
      answer = oldest.answer.get();
    } catch (const std::future_error&) { // cancelled with its promise
      asked_.clear();
      return std::nullopt;
    }
    asked_.pop_front();
    if (*answer)
      (*answer)->configuration = configuration;
    return answer;
  }

  // Checks what would be the new best and counts it again, records the trial and tells it.
  Result<void> take(Trial trial) {
    const bool wanted = trial.checked ? faster_than_best(trial) : promising(trial);
    bool news = log_ != nullptr && log_->find(trial.configuration) == nullptr;
    if (wanted && !trial.checked) {
      KERNEVO_CHECK(check(trial));
      news = log_ != nullptr;
    } else if (const Trial* logged = log_ == nullptr ? nullptr : log_->find(trial.configuration)) {
      news = logged->partial && !trial.partial;
    }
    if (news)
      KERNEVO_CHECK(log_->append(trial));
    const bool best = wanted && trial.outcome == Outcome::ok && faster_than_best(trial);
    if (best)
      best_ = std::make_shared<const Trial>(trial);
    search_.tell(trial);
    failed_ += trial.outcome == Outcome::ok ? 0 : 1;
    result_.trials.push_back(std::move(trial));
    notify(best ? TuningEvent::best : TuningEvent::told, &result_.trials.back());
    return {};
  }

  Result<void> check(Trial& trial) {
    KERNEVO_TRY(complaint, objective_.check(space_.values(trial.configuration)));
    trial.checked = true;
    if (complaint) {
      trial.outcome = Outcome::wrong;
      trial.time.reset();
      trial.reason = std::move(*complaint);
      return {};
    }
    if (best_) {
      KERNEVO_TRY(contested, contest(trial, *best_));
      if (contested)
        return {};
    }
    KERNEVO_TRY(recounted, objective_.recount(space_.values(trial.configuration), best_.get()));
    if (!recounted)
      return {};
    recounted->configuration = trial.configuration;
    recounted->checked = true;
    trial = std::move(*recounted);
    return {};
  }

  // Against another, in turns; false where the objective has no such thing.
  Result<bool> contest(Trial& trial, const Trial& incumbent) {
    KERNEVO_TRY(told, objective_.contest(space_.values(trial.configuration),
                                         space_.values(incumbent.configuration), incumbent));
    if (!told)
      return false;
    told->configuration = trial.configuration;
    told->counters = trial.counters;
    told->checked = true;
    trial = std::move(*told);
    return true;
  }

  // The fastest of them that is right becomes the first incumbent.
  Result<void> take_known() {
    std::vector<Trial> known = options_.known;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < known.size(); ++i) {
      // What this log found out about it outranks it.
      if (const Trial* logged = log_ == nullptr ? nullptr : log_->find(known[i].configuration);
          logged != nullptr && logged->checked)
        known[i] = *logged;
      order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return known[a].time.value_or(Nanoseconds{1e300}) <
             known[b].time.value_or(Nanoseconds{1e300});
    });
    for (const std::size_t i : order) {
      if (!faster_than_best(known[i]))
        continue;
      if (!known[i].checked) {
        KERNEVO_CHECK(check(known[i]));
        if (log_ != nullptr)
          KERNEVO_CHECK(log_->append(known[i]));
      }
      if (known[i].outcome == Outcome::ok && faster_than_best(known[i]))
        best_ = std::make_shared<const Trial>(known[i]);
    }
    for (Trial& trial : known)
      search_.tell(std::move(trial));
    return {};
  }

  // An earlier run with another seed may have found something better.
  Result<void> adopt_logged() {
    if (log_ == nullptr)
      return {};
    std::shared_ptr<const Trial> logged;
    for (const Trial& trial : log_->trials())
      if (trial.checked && trial.outcome == Outcome::ok && faster_than_best(trial) &&
          (!logged || *trial.time < *logged->time))
        logged = std::make_shared<const Trial>(trial);
    if (!logged)
      return {};
    if (best_) {
      Trial beside = *logged;
      KERNEVO_TRY(contested, contest(beside, *best_));
      if (contested) {
        if (beside.outcome == Outcome::ok && faster_than_best(beside))
          best_ = std::make_shared<const Trial>(std::move(beside));
        return {};
      }
    }
    best_ = std::move(logged);
    return {};
  }

  void notify(TuningEvent event, const Trial* last) const {
    if (!options_.observer)
      return;
    TuningState state;
    state.told = result_.trials.size();
    state.from_log = result_.from_log;
    state.failed = failed_;
    state.under_way = asked_.size();
    state.last = last;
    state.best = best_.get();
    state.stopping = stop_ && *stop_ == TuningStop::interrupted;
    options_.observer(event, state);
  }

  const search::SearchSpace& space_;
  TuningObjective& objective_;
  search::TuningLog* log_;
  const TunerOptions& options_;
  search::Search& search_;
  std::size_t ahead_;
  TuningResult result_;
  std::shared_ptr<const Trial> best_;
  std::deque<Asked> asked_;
  std::size_t asked_count_ = 0;
  std::size_t failed_ = 0;
  double start_ = 0;
  std::optional<TuningStop> stop_;
  JobPool pool_; // last: its threads end before what they use
};

} // namespace

std::string_view name_of(TuningStop stop) {
  switch (stop) {
  case TuningStop::evaluations: return "evaluations";
  case TuningStop::seconds: return "seconds";
  case TuningStop::exhausted: return "exhausted";
  case TuningStop::interrupted: return "interrupted";
  }
  return "";
}

Result<TuningResult> tune(const search::SearchSpace& space, TuningObjective& objective,
                          search::TuningLog* log, const TunerOptions& options) {
  KERNEVO_TRY(search, search::Search::create(space, options.search));
  return Tuner(space, objective, log, options, search).run();
}

} // namespace kernevo::tune
