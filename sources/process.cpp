#include "attica/sources/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "attica/core/error.hpp"
#include "attica/core/platform.hpp"

namespace attica::sources {
namespace {

/// Two ends of a pipe, closed with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() {
    if (!platform::open_pipe(ends)) {
      throw Error(ErrorKind::storage, fmt::format("no pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

/// "NAME=VALUE" of this process, with numbers written as in C (awk would print 0,5 in German), and
/// one thread for the libraries that would take all.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** entry = platform::environment(); *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("LC_ALL=")) all.emplace_back(*entry);
  }
  all.emplace_back("LC_ALL=C");
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    if (std::getenv(name) == nullptr) all.push_back(fmt::format("{}=1", name));
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::string name_of(const Command& command) {
  return fmt::format("'{}'", fmt::join(command.arguments, " "));
}

/// The last lines of what a program complained of.
std::string tail(const std::string& text) {
  constexpr std::size_t kMost = 1000;
  std::string_view last = text;
  while (!last.empty() && (last.back() == '\n' || last.back() == '\r')) last.remove_suffix(1);
  if (last.size() > kMost) {
    last.remove_prefix(last.size() - kMost);
    const auto line = last.find('\n');
    if (line != std::string_view::npos) last.remove_prefix(line + 1);
  }
  if (last.empty()) return "it said nothing on standard error";
  return "it said:\n" + std::string(last);
}

/// Reads what is there; false at the end.
bool drain(int descriptor, std::string& into, std::size_t most) {
  constexpr std::size_t kBlock = 65536;
  std::array<char, kBlock> block;
  const ssize_t got = ::read(descriptor, block.data(), block.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  into.append(block.data(), static_cast<std::size_t>(got));
  if (into.size() > most) into.erase(0, into.size() - most);
  return true;
}

/// A running program; its group does not outlive this object.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its status once it has ended.
  std::optional<int> ended() {
    if (!status_) {
      int status = 0;
      if (::waitpid(id_, &status, WNOHANG) == id_) status_ = status;
    }
    return status_;
  }
  void kill() {
    ::kill(-id_, SIGKILL);
    while (!ended()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  pid_t id_;
  std::optional<int> status_;
};

}  // namespace

std::optional<std::string> output_of(const Command& command, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::vector<std::string> words = command.arguments;
  std::vector<std::string> variables = environment();
  const std::vector<char*> arguments = pointers(words);
  std::vector<char*> settings = pointers(variables);
  const std::string directory = command.directory.string();
  Pipe out;
  Pipe err;
  Pipe failure;  // closed by a successful exec; else the child writes errno
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) throw Error(ErrorKind::storage, fmt::format("no process: {}", std::strerror(errno)));
  if (id == 0) {
    // Between fork and exec only what is safe in a process of many threads.
    ::setpgid(0, 0);
    platform::end_with_parent(SIGKILL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::getppid() == parent && nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
        ::dup2(out.ends[1], STDOUT_FILENO) >= 0 && ::dup2(err.ends[1], STDERR_FILENO) >= 0 &&
        (directory.empty() || ::chdir(directory.c_str()) == 0)) {
      platform::execute(arguments.data(), settings.data());
    }
    const int reason = errno;
    static_cast<void>(!::write(failure.ends[1], &reason, sizeof reason));
    ::_exit(127);
  }
  ::setpgid(id, id);
  Child child(id);
  out.close(1);
  err.close(1);
  failure.close(1);
  int reason = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure.ends[0], &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof reason) {
    throw Error(ErrorKind::input,
                fmt::format("{} cannot be started: {}", name_of(command), std::strerror(reason)));
  }

  constexpr std::size_t kMostOutput = std::size_t{1} << 28;
  constexpr std::size_t kMostComplaint = 1 << 16;
  constexpr int kPoll = 20;  // milliseconds
  std::string printed;
  std::string complaint;
  std::array<pollfd, 2> watched{pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  for (const pollfd& end : watched) ::fcntl(end.fd, F_SETFL, O_NONBLOCK);
  const auto read_all = [&] {
    if (watched[0].fd >= 0 && !drain(watched[0].fd, printed, 2 * kMostOutput)) watched[0].fd = -1;
    if (watched[1].fd >= 0 && !drain(watched[1].fd, complaint, kMostComplaint)) watched[1].fd = -1;
  };
  std::optional<int> status;
  while (!status) {
    if (stop.stop_requested()) return std::nullopt;
    if (command.max_seconds &&
        std::chrono::duration<double>(Clock::now() - start).count() > *command.max_seconds) {
      throw Error(ErrorKind::numerical,
                  fmt::format("{} took longer than {} s; {}",
                              name_of(command),
                              *command.max_seconds,
                              tail(complaint)));
    }
    if (printed.size() > kMostOutput) {
      throw Error(
          ErrorKind::input,
          fmt::format(
              "{} printed more than {} MB, expected a table", name_of(command), kMostOutput >> 20));
    }
    ::poll(watched.data(), watched.size(), kPoll);
    read_all();
    status = child.ended();
  }
  // What it wrote last; a descendant that still holds the pipe is not waited for.
  for (pollfd& end : watched) {
    while (end.fd >= 0 && ::poll(&end, 1, 0) > 0) read_all();
  }
  if (WIFSIGNALED(*status)) {
    throw Error(ErrorKind::numerical,
                fmt::format("{} was ended by signal {} ({}); {}",
                            name_of(command),
                            WTERMSIG(*status),
                            ::strsignal(WTERMSIG(*status)),
                            tail(complaint)));
  }
  if (WEXITSTATUS(*status) != 0) {
    throw Error(ErrorKind::numerical,
                fmt::format("{} ended with exit code {}; {}",
                            name_of(command),
                            WEXITSTATUS(*status),
                            tail(complaint)));
  }
  return printed;
}

}  // namespace attica::sources
