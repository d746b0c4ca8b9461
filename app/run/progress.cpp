#include "attica/app/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "attica/app/command/text.hpp"

namespace attica::app {

std::string duration_text(double seconds) {
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  const long s = std::lround(std::ceil(seconds));
  if (s < kMinute) return fmt::format("{} s", s);
  if (s < kHour) return fmt::format("{} min {} s", s / kMinute, s % kMinute);
  return fmt::format("{} h {} min", s / kHour, s % kHour / kMinute);
}

namespace {

/// A terminal that knows no control sequences, such as that of an editor.
bool is_dumb() {
  const char* const kind = std::getenv("TERM");
  return kind == nullptr || kind == std::string_view("dumb");
}

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1 && !is_dumb()),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

Notice::Notice(bool quiet, std::string text) {
  if (quiet) return;
  waiting_ = std::jthread([text = std::move(text)](const std::stop_token& over) {
    constexpr auto kPatience = std::chrono::seconds(2);
    std::mutex guard;
    std::condition_variable_any waiting;
    std::unique_lock lock(guard);
    if (!waiting.wait_for(lock, over, kPatience, [] { return false; }) && !over.stop_requested())
      say(text + "\n");
  });
}

void Progress::update(double share) {
  if (quiet_) return;
  const auto now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(60000);
  if (now - last_ < pause) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      share > 0 ? fmt::format(", about {} left", duration_text(elapsed * (1 - share) / share)) : "";
  constexpr double kPercent = 100;
  if (terminal_) {
    constexpr int kWidth = 30;
    const auto filled = static_cast<int>(share * kWidth);
    fmt::print(stderr,
               "\r\033[K[{:=<{}}{: <{}}] {:3.0f} %{}",
               "",
               filled,
               "",
               kWidth - filled,
               kPercent * share,
               left);
    std::fflush(stderr);
    drawn_ = true;
  } else {
    say(fmt::format("{:.0f} % after {}{}\n", kPercent * share, duration_text(elapsed), left));
  }
}

}  // namespace attica::app
