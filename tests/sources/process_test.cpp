#include "attica/sources/process.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "attica/core/error.hpp"

using namespace attica;
using namespace attica::sources;
using Catch::Contains;

namespace own_process_test {

Command shell(const std::string& script) {
  return {.arguments = {"sh", "-c", script}, .directory = std::filesystem::temp_directory_path()};
}

ErrorKind kind_of(const Command& command) {
  try {
    static_cast<void>(output_of(command));
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::storage;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_CASE("output_of: what a program prints, also much of it", "[studies][own]") {
  CHECK(output_of(shell("echo x; echo said >&2; echo y")) == "x\ny\n");
  CHECK(output_of(shell("head -c 3000000 /dev/zero | tr '\\0' a"))->size() == 3000000);
  CHECK(output_of(shell("pwd")) == std::filesystem::temp_directory_path().string() + "\n");
  CHECK(output_of(shell("cat")) == "");  // the standard input is empty
  CHECK(output_of({.arguments = {"printf", "%s|%s", "a b", "$HOME"}, .directory = "/"}) ==
        "a b|$HOME");
}

TEST_CASE("output_of: numbers are printed as in C", "[studies][own]") {
  ::setenv("LC_ALL", "de_DE.UTF-8", 1);
  CHECK(output_of(shell("echo $LC_ALL; env | grep -c ^LC_ALL=")) == "C\n1\n");
  CHECK(output_of({.arguments = {"env", "LC_ALL=C.UTF-8", "sh", "-c", "echo $LC_ALL"},
                   .directory = "/"}) == "C.UTF-8\n");
  ::unsetenv("LC_ALL");
  CHECK(output_of(shell("echo $LC_ALL")) == "C\n");
}

TEST_CASE("output_of: how programs fail", "[studies][own]") {
  CHECK_THROWS_WITH(output_of(shell("echo reason >&2; exit 3")),
                    Contains("exit code 3") && Contains("reason"));
  CHECK_THROWS_WITH(output_of(shell("kill -SEGV $$")), Contains("signal 11"));
  CHECK_THROWS_WITH(output_of(shell("seq 100000 >&2; exit 1")),
                    Contains("99999\n100000") && !Contains("\n50000\n"));
  CHECK_THROWS_WITH(output_of({.arguments = {"/no/such/program"}, .directory = "/"}),
                    Contains("cannot be started"));
  CHECK(kind_of(shell("exit 1")) == ErrorKind::numerical);
  CHECK(kind_of({.arguments = {"/no/such/program"}, .directory = "/"}) == ErrorKind::input);
}

TEST_CASE("output_of: ends what hangs, with all its children", "[studies][own]") {
  const auto start = std::chrono::steady_clock::now();
  Command hanging = shell("sleep 1000 & sleep 1000");
  hanging.max_seconds = 0.3;
  CHECK_THROWS_WITH(output_of(hanging), Contains("took longer than 0.3 s"));
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  CHECK_FALSE(output_of(shell("sleep 1000; sleep 1000"), stop.get_token()).has_value());
  // A child that keeps the pipe open is not waited for, and does not live on.
  CHECK(output_of(shell("sleep 1000 & echo $!; exit 0")).has_value());
  CHECK(seconds_since(start) < 60);
}

TEST_CASE("Conversation: a line for a line, however long", "[studies][own]") {
  Conversation echo({.arguments = {"cat"}, .directory = "/"});
  CHECK(echo.answer("x", "pass 1") == "x");
  const std::string line(3000000, 'a');
  CHECK(echo.answer(line, "pass 2") == line);
  CHECK(echo.answer("", "pass 3").empty());
}

TEST_CASE("Conversation: how programs fail names what was asked", "[studies][own]") {
  const auto asked = [](const std::string& script, std::optional<double> seconds = {}) {
    Command command = shell(script);
    command.max_seconds = seconds;
    Conversation talk(command);
    static_cast<void>(talk.answer("x", "pass 1"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    static_cast<void>(talk.answer("y", "pass 2"));
  };
  CHECK_THROWS_WITH(asked("read a; echo $a; read b; echo reason >&2; exit 3"),
                    Contains("exit code 3 in pass 2") && Contains("reason"));
  CHECK_THROWS_WITH(asked("exit 0"), Contains("exit code 0 in pass 1"));
  CHECK_THROWS_WITH(asked("exec <&-; sleep 5", 0.2), Contains("longer than 0.2 s for pass 1"));
  CHECK_THROWS_WITH(asked("read a; echo $a; echo more; cat"),
                    Contains("printed 'more' before pass 2"));
  CHECK_THROWS_WITH(asked("kill -SEGV $$"), Contains("signal 11"));
  CHECK_THROWS_WITH(Conversation({.arguments = {"/no/such/program"}, .directory = "/"}),
                    Contains("cannot be started"));
}

TEST_CASE("Conversation: nothing is left of a program", "[studies][own]") {
  const auto file = std::filesystem::temp_directory_path() / "attica-conversation-end";
  std::filesystem::remove(file);
  {  // it may clean up when its input ends
    Conversation talk(shell("while read a; do echo $a; done; touch attica-conversation-end"));
    CHECK(talk.answer("x", "pass 1") == "x");
  }
  CHECK(std::filesystem::remove(file));
  const auto start = std::chrono::steady_clock::now();
  { Conversation deaf(shell("sleep 30")); }
  CHECK(seconds_since(start) < 5);
}

}  // namespace own_process_test
