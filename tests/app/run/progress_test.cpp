#include "attica/app/run/progress.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

using namespace attica::app;

namespace {

/// What goes to standard error while a notice lives for this long.
std::string noticed(bool quiet, std::chrono::milliseconds lives) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(file), STDERR_FILENO);
  {
    const Notice notice(quiet, kComputingTheory);
    std::this_thread::sleep_for(lives);
  }
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("Notice: speaks of what takes seconds, once, and not when quiet", "[app][progress]") {
  using namespace std::chrono_literals;
  CHECK(noticed(false, 0ms).empty());
  CHECK(noticed(false, 4000ms) == std::string(kComputingTheory) + "\n");
  CHECK(noticed(true, 2500ms).empty());
}
