#include "attica/app/run/runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/run/failure.hpp"
#include "attica/app/run/progress.hpp"
#include "attica/core/parallel.hpp"

namespace attica::app {
namespace {

// A piece that hears of the stop may take a moment to end.
constexpr double kGraceSeconds = 3;
constexpr double kGraceShare = 10;  // of the time limit

// What signal handlers write and read: the only globals of the program.
std::atomic<int> g_signal{0};
std::atomic<int> g_exit_code{kExitInterrupted};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr std::array kSignals{SIGINT, SIGTERM, SIGUSR1, SIGHUP};
using Actions = std::array<struct sigaction, kSignals.size()>;

Actions take_over(void (*handler)(int)) {
  Actions previous{};
  struct sigaction action = {};
  action.sa_handler = handler;
  for (std::size_t k = 0; k < kSignals.size(); ++k) {
    ::sigaction(kSignals[k], &action, &previous[k]);
    // Under nohup a closed terminal is no reason to stop. (A script's background jobs ignore SIGINT
    // too, but who sends it to them means it.)
    if (kSignals[k] == SIGHUP && previous[k].sa_handler == SIG_IGN)
      ::sigaction(SIGHUP, &previous[k], nullptr);
  }
  return previous;
}

void give_back(const Actions& previous) {
  for (std::size_t k = 0; k < kSignals.size(); ++k) ::sigaction(kSignals[k], &previous[k], nullptr);
}

/// Takes over the stop signals while it lives.
class SignalWatch {
 public:
  SignalWatch() {
    g_signal = 0;
    previous_ = take_over([](int number) { g_signal = number; });
  }
  ~SignalWatch() { give_back(previous_); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  static bool raised() { return g_signal != 0; }

 private:
  Actions previous_{};
};

/// Stores finished parts on a thread of its own: who computes does not wait for the disk.
class Storekeeper {
 public:
  using Store = std::function<void(const PieceOfRun&, PartRecord)>;

  /// @param failed is asked to stop when storing fails
  Storekeeper(const Store& store, std::stop_source failed)
      : store_(store), failed_(std::move(failed)), thread_([this] { work(); }) {}
  ~Storekeeper() { close(); }
  Storekeeper(const Storekeeper&) = delete;
  Storekeeper& operator=(const Storekeeper&) = delete;

  /// Leaves the part to be stored; where many wait already, who brings it stores it.
  void take(const PieceOfRun& piece, PartRecord part) {
    constexpr std::size_t kMostWaiting = 16;
    {
      const std::scoped_lock lock(guard_);
      if (waiting_.size() < kMostWaiting) {
        waiting_.emplace_back(&piece, std::move(part));
        news_.notify_one();
        return;
      }
    }
    store_(piece, std::move(part));
    ++stored_;
  }

  std::size_t stored() const { return stored_; }

  /// Stores what waits. @throws what storing threw
  void finish() {
    close();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void close() {
    {
      const std::scoped_lock lock(guard_);
      closed_ = true;
      news_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

  void work() {
    std::unique_lock lock(guard_);
    for (;;) {
      news_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      auto [piece, part] = std::move(waiting_.front());
      waiting_.pop_front();
      if (error_) continue;
      lock.unlock();
      try {
        store_(*piece, std::move(part));
        ++stored_;
      } catch (...) {
        error_ = std::current_exception();
        failed_.request_stop();
      }
      lock.lock();
    }
  }

  const Store& store_;
  std::stop_source failed_;
  std::mutex guard_;
  std::condition_variable news_;
  std::deque<std::pair<const PieceOfRun*, PartRecord>> waiting_;
  bool closed_ = false;
  std::exception_ptr error_;  ///< of the thread, which alone reads it while it runs
  std::atomic<std::size_t> stored_{0};
  std::thread thread_;
};

struct Schedule {
  std::vector<const PieceOfRun*> order;
  std::vector<double> done;  ///< share of the work in the first k, k = 0 .. all
};

/// The pieces that are expected to take longest first, so that no worker ends long after the
/// others; those of unknown length before them.
Schedule longest_first(const Work& work, std::span<const PieceOfRun> pieces) {
  std::vector<std::pair<double, const PieceOfRun*>> all;
  for (const PieceOfRun& one : pieces) {
    const double each = work.problems[one.problem].experiment->relative_work(one.piece.point);
    const double expected = each > 0 ? each * static_cast<double>(one.piece.replicates)
                                     : std::numeric_limits<double>::infinity();
    all.emplace_back(expected, &one);
  }
  std::ranges::stable_sort(all, std::greater(), &std::pair<double, const PieceOfRun*>::first);
  // Where any is unknown, all count alike.
  const bool known = !all.empty() && std::isfinite(all.front().first);
  Schedule schedule{.order = {}, .done = {0}};
  for (const auto& [expected, piece] : all) {
    schedule.order.push_back(piece);
    schedule.done.push_back(schedule.done.back() + (known ? expected : 1));
  }
  const double total = schedule.done.back();
  for (double& share : schedule.done) share /= total > 0 ? total : 1;
  return schedule;
}

/// What the pieces of a problem share.
void prepare_problems(const Work& work, std::span<const PieceOfRun> pieces) {
  std::set<std::size_t> prepared;
  for (const PieceOfRun& one : pieces) {
    if (!prepared.insert(one.problem).second) continue;
    const Problem& problem = work.problems[one.problem];
    try {
      problem.experiment->prepare();
    } catch (...) {
      rethrow_explained(std::current_exception(),
                        work.configuration,
                        work.configuration.values,
                        problem.coordinates);
    }
  }
}

}  // namespace

ExitOnSignal::ExitOnSignal() {
  g_exit_code = kExitInterrupted;
  previous_ = take_over([](int) {
    constexpr std::string_view kStopped = "\nstopped; run again with --resume\n";
    constexpr std::string_view kNothing = "\ninterrupted before anything was finished\n";
    const std::string_view text = g_exit_code == kExitStopped ? kStopped : kNothing;
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(g_exit_code);
  });
}

ExitOnSignal::~ExitOnSignal() { give_back(previous_); }

void ExitOnSignal::checkpoint() { g_exit_code = kExitStopped; }

struct Deadline::State {
  std::mutex guard;
  std::condition_variable over;
  bool lifted = false;
};

/// Longer times, such as an infinite one, are no limit; clocks do not count so far.
constexpr double kLongestTime = 1e9;

Deadline::Deadline(std::optional<double> seconds)
    : start_(std::chrono::steady_clock::now()),
      seconds_(seconds && *seconds <= kLongestTime ? seconds : std::nullopt),
      state_(std::make_unique<State>()) {
  if (!seconds_) return;
  watcher_ = std::jthread([this] {
    std::unique_lock lock(state_->guard);
    const auto end =
        std::chrono::duration<double>(*seconds_ + kGraceSeconds + *seconds_ / kGraceShare);
    if (state_->over.wait_for(lock, end, [&] { return state_->lifted; })) return;
    say(
        fmt::format("stopped after --max-time {:.6g} s, in work that cannot be cut short (set-up "
                    "counts too); run "
                    "again with --resume and more time\n",
                    *seconds_));
    ::_exit(kExitStopped);  // what is finished is on disk, whole
  });
}

Deadline::~Deadline() { lift(); }

void Deadline::lift() {
  const std::lock_guard lock(state_->guard);
  state_->lifted = true;
  state_->over.notify_all();
}

std::optional<double> Deadline::left() const {
  if (!seconds_) return std::nullopt;
  return *seconds_ -
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

RunnerEnd run_pieces(const Work& work,
                     std::span<const PieceOfRun> pieces,
                     const std::function<void(const PieceOfRun&, PartRecord)>& store,
                     const RunnerOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const SignalWatch watch;
  std::stop_source stop;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> out_of_time{false};

  Storekeeper storekeeper(store, stop);

  // Every worker takes the next piece in order until there is none: no piece waits behind a slow
  // one. Worker 0 is this process; the others are threads of it, or other ranks.
  const Schedule schedule = longest_first(work, pieces);
  const bool alone = options.ranks == nullptr || options.ranks->count() == 1;
  const auto work_through = [&](std::size_t worker) {
    for (std::size_t k = next++; k < schedule.order.size() && !stop.stop_requested(); k = next++) {
      try {
        PartRecord part =
            alone || worker == 0
                ? carry_out(work, *schedule.order[k], stop.get_token(), options.states)
                : options.ranks->remote(worker, *schedule.order[k], stop.get_token());
        if (stop.stop_requested()) return;
        storekeeper.take(*schedule.order[k], std::move(part));
      } catch (...) {
        stop.request_stop();
        throw;
      }
    }
  };

  // Asks for the stop from outside the workers, so that a long piece hears of it too.
  Progress progress(options.quiet);
  std::jthread supervisor([&](const std::stop_token& over) {
    constexpr auto kPoll = std::chrono::milliseconds(50);
    std::mutex guard;
    std::condition_variable_any end;
    std::unique_lock lock(guard);
    while (!over.stop_requested()) {
      if (options.max_seconds &&
          std::chrono::duration<double>(Clock::now() - start).count() > *options.max_seconds) {
        out_of_time = true;
      }
      if (SignalWatch::raised() || out_of_time) stop.request_stop();
      progress.update(schedule.done[storekeeper.stored()]);
      end.wait_for(lock, over, kPoll, [] { return false; });
    }
  });

  const ThreadLimit limit(options.threads);
  if (alone) {
    prepare_problems(work, pieces);
    on_threads(options.threads,
               [&](int worker) { work_through(static_cast<std::size_t>(worker)); });
  } else {
    std::vector<std::future<void>> workers;
    for (std::size_t rank = 0; rank < options.ranks->count(); ++rank)
      workers.push_back(std::async(std::launch::async, work_through, rank));
    for (std::future<void>& worker : workers) worker.get();
  }
  storekeeper.finish();
  supervisor.request_stop();
  supervisor.join();
  if (storekeeper.stored() == pieces.size()) return RunnerEnd::finished;
  return SignalWatch::raised() ? RunnerEnd::interrupted : RunnerEnd::out_of_time;
}

}  // namespace attica::app
