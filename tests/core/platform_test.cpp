#include "attica/core/platform.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

using namespace attica;

TEST_CASE("platform: this process", "[core][platform]") {
  CHECK(std::filesystem::exists(platform::program_file()));
  CHECK(platform::program_file().filename() == "attica-test-core");
  CHECK(platform::code_file() == platform::program_file());  // the library is a part of it
  REQUIRE_FALSE(platform::command_line().empty());
  CHECK(platform::command_line().front().ends_with("attica-test-core"));
  CHECK(platform::peak_memory() > 1e5);
  CHECK(platform::peak_memory() < 1e12);
  const auto available = platform::available_memory();
  CHECK((!available || *available > 0));
}

TEST_CASE("platform: children inherit neither pipes nor terminals", "[core][platform]") {
  std::array<int, 2> ends{};
  int ours = -1;
  int childs = -1;
  REQUIRE(platform::open_pipe(ends));
  REQUIRE(platform::open_terminal(ours, childs));
  for (const int end : {ends[0], ends[1], ours, childs}) {
    CHECK((::fcntl(end, F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(::isatty(childs) == 1);
  REQUIRE(::write(ends[1], "a", 1) == 1);
  char got = 0;
  REQUIRE(::read(ends[0], &got, 1) == 1);
  CHECK(got == 'a');
  REQUIRE(::write(childs, "b\n", 2) == 2);
  REQUIRE(::read(ours, &got, 1) == 1);
  CHECK(got == 'b');
  for (const int end : {ends[0], ends[1], ours, childs}) ::close(end);
}

TEST_CASE("platform: a child closes what it holds and becomes another program",
          "[core][platform]") {
  const int open = ::dup(STDERR_FILENO);
  const pid_t id = ::fork();
  REQUIRE(id >= 0);
  if (id == 0) {
    platform::end_with_parent(SIGKILL);
    platform::close_from(STDERR_FILENO + 1);
    if (::fcntl(open, F_GETFD) != -1) ::_exit(1);
    std::string name = "sh";
    std::string option = "-c";
    std::string script = "test \"$ATTICA_TEST\" = told";
    std::string variable = "ATTICA_TEST=told";
    std::vector<char*> words{name.data(), option.data(), script.data(), nullptr};
    std::vector<char*> variables{variable.data(), nullptr};
    platform::execute(words.data(), variables.data());
    ::_exit(2);
  }
  int status = 0;
  REQUIRE(::waitpid(id, &status, 0) == id);
  CHECK(WEXITSTATUS(status) == 0);
  ::close(open);
}

TEST_CASE("platform: a signal that is held back is taken away", "[core][platform]") {
  sigset_t kind;
  sigset_t before;
  ::sigemptyset(&kind);
  ::sigaddset(&kind, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &kind, &before);
  platform::take_pending(SIGPIPE);  // none: it does not wait
  ::raise(SIGPIPE);
  platform::take_pending(SIGPIPE);
  sigset_t left;
  ::sigpending(&left);
  CHECK(::sigismember(&left, SIGPIPE) == 0);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("platform: memory that is not there is refused, and children have the old limit",
          "[core][platform]") {
  const pid_t id = ::fork();
  REQUIRE(id >= 0);
  if (id == 0) {
    struct rlimit before = {};
    if (::getrlimit(RLIMIT_DATA, &before) != 0) ::_exit(1);
    if (!platform::limit_memory()) ::_exit(0);
    const auto available = platform::available_memory();
    if (!available) ::_exit(6);
    try {
      const std::vector<char> more(static_cast<std::size_t>(*available) + (std::size_t{4} << 30));
      ::_exit(more.empty() ? 2 : 3);
    } catch (const std::bad_alloc&) {
    }
    platform::lift_memory_limit();
    struct rlimit after = {};
    if (::getrlimit(RLIMIT_DATA, &after) != 0) ::_exit(4);
    ::_exit(after.rlim_cur == before.rlim_cur ? 0 : 5);
  }
  int status = 0;
  REQUIRE(::waitpid(id, &status, 0) == id);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
