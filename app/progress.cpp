#include "attica/app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace attica::app {

std::string duration_text(double seconds) {
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  const long s = std::lround(std::ceil(seconds));
  if (s < kMinute) return fmt::format("{} s", s);
  if (s < kHour) return fmt::format("{} min {} s", s / kMinute, s % kMinute);
  return fmt::format("{} h {} min", s / kHour, s % kHour / kMinute);
}

Progress::Progress(std::size_t total, bool quiet)
    : total_(total),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::size_t done) {
  if (quiet_ || total_ == 0) return;
  const auto now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(60000);
  if (now - last_ < pause) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double fraction = static_cast<double>(done) / static_cast<double>(total_);
  const std::string left =
      done == 0
          ? ""
          : fmt::format(", about {} left", duration_text(elapsed * (1 - fraction) / fraction));
  constexpr double kPercent = 100;
  if (terminal_) {
    constexpr int kWidth = 30;
    const int filled = static_cast<int>(fraction * kWidth);
    fmt::print(stderr,
               "\r\033[K[{:=<{}}{: <{}}] {:3.0f} %{}",
               "",
               filled,
               "",
               kWidth - filled,
               kPercent * fraction,
               left);
    std::fflush(stderr);
    drawn_ = true;
  } else {
    fmt::print(stderr, "{:.0f} % after {}{}\n", kPercent * fraction, duration_text(elapsed), left);
  }
}

}  // namespace attica::app
