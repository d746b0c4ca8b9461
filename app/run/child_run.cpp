#include "attica/app/run/child_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "attica/app/run/descriptor.hpp"
#include "attica/core/error.hpp"
#include "attica/core/platform.hpp"

namespace attica::app {

namespace {

constexpr std::string_view kClearLine = "\x1b[K";

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorKind::storage, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Reads what is there; false at the end. A terminal that nobody writes to any more says EIO.
bool drain(int descriptor, std::string& into) {
  constexpr std::size_t kBlock = 65536;
  std::array<char, kBlock> block;
  const ssize_t got = ::read(descriptor, block.data(), block.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  into.append(block.data(), static_cast<std::size_t>(got));
  return got > 0;
}

/// What was said on the terminal, a line at a time: progress apart from the rest.
class Listener {
 public:
  void take(std::string& said) {
    std::size_t end = 0;
    while ((end = said.find_first_of("\r\n")) != std::string::npos) {
      line(std::string_view(said).substr(0, end));
      said.erase(0, end + 1);
    }
    if (is_bar(said)) line(said);  // a bar ends with no line break
  }
  void line(std::string_view text) {
    if (is_bar(text)) {
      const std::size_t start = text.find_first_not_of(' ', text.find(']') + 1);
      if (text.find('%') != std::string_view::npos && start != std::string_view::npos)
        progress = text.substr(start);
      return;
    }
    if (text.starts_with(kClearLine)) text.remove_prefix(kClearLine.size());
    if (!text.empty()) talk += std::string(text) + "\n";
  }

  std::string progress;
  std::string talk;

 private:
  static bool is_bar(std::string_view text) {
    return text.starts_with(kClearLine) && text.substr(kClearLine.size()).starts_with("[");
  }
};

}  // namespace

std::vector<std::string> launcher(const std::vector<std::string>& own) {
  std::vector<std::string> all = platform::command_line();
  if (all.empty()) return {platform::program_to_start()};
  // Python's own words come before those that main was given; the name stands among the latter.
  all.resize(all.size() + 1 - std::min(all.size(), own.size()));
  return all;
}

ChildEnd run_child(const std::vector<std::string>& command,
                   const std::function<bool(const std::string& progress)>& heard) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // The bar is drawn for a terminal that knows control sequences.
  std::vector<std::string> settings{"TERM=xterm"};
  for (char** entry = platform::environment(); *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("TERM=")) settings.emplace_back(*entry);
  }
  std::vector<char*> variables;
  for (std::string& setting : settings) variables.push_back(setting.data());
  variables.push_back(nullptr);

  Descriptor terminal;
  Descriptor terminal_end;
  Descriptor output;
  Descriptor output_end;
  if (!platform::open_terminal(terminal.number, terminal_end.number)) fail("no terminal");
  std::array<int, 2> ends{};
  if (!platform::open_pipe(ends)) fail("no pipe");
  output.number = ends[0];
  output_end.number = ends[1];

  const std::string program = platform::program_to_start();
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) fail("no process");
  if (id == 0) {
    // Between fork and exec only what is safe in a process of many threads.
    ::setsid();  // a signal of the user's terminal comes to us alone, and is passed on once
    platform::end_with_parent(SIGINT);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGTERM, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::getppid() == parent && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
        ::dup2(output_end.number, STDOUT_FILENO) >= 0 &&
        ::dup2(terminal_end.number, STDERR_FILENO) >= 0) {
      platform::close_from(STDERR_FILENO + 1);
      platform::lift_memory_limit();
      ::execve(program.c_str(), arguments.data(), variables.data());
    }
    ::_exit(127);
  }
  output_end.close();
  terminal_end.close();

  constexpr int kPoll = 250;  // milliseconds
  ChildEnd end;
  std::string said;
  Listener listener;
  bool told_to_stop = false;
  std::array<pollfd, 2> watched{pollfd{output.number, POLLIN, 0},
                                pollfd{terminal.number, POLLIN, 0}};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    ::poll(watched.data(), watched.size(), kPoll);
    if (watched[0].revents != 0 && !drain(output.number, end.output)) watched[0].fd = -1;
    if (watched[1].revents != 0 && !drain(terminal.number, said)) watched[1].fd = -1;
    listener.take(said);
    if (!told_to_stop && !heard(listener.progress)) {
      ::kill(id, SIGINT);
      told_to_stop = true;
    }
  }
  listener.line(said);
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int kSignalled = 128;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  end.talk = listener.talk;
  return end;
}

}  // namespace attica::app
