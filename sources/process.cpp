#include "attica/sources/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <pthread.h>
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
/// Not anonymous: `Conversation::Running` has members of these types.
namespace processes {

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

/// A program that was started, and this side's ends of its pipes.
class Program {
 public:
  /// @param talks its standard input is a pipe; else it is empty
  Program(const Command& command, bool talks);

  /// Reads what is there. @return whether its output may go on
  bool read_all() {
    constexpr std::size_t kMostComplaint = 1 << 16;
    if (watched_[0].fd >= 0 && !drain(watched_[0].fd, printed, 2 * kMostOutput))
      watched_[0].fd = -1;
    if (watched_[1].fd >= 0 && !drain(watched_[1].fd, complaint, kMostComplaint))
      watched_[1].fd = -1;
    return watched_[0].fd >= 0;
  }
  /// Waits for a moment, or until there is something to read or, if `writing`, room to write.
  void wait(bool writing) {
    constexpr int kPoll = 20;  // milliseconds
    watched_[2].fd = writing ? input() : -1;
    ::poll(watched_.data(), watched_.size(), kPoll);
  }
  /// Reads what it wrote last; a descendant that still holds the pipe is not waited for.
  void read_rest() {
    watched_[2].fd = -1;
    for (pollfd& end : watched_) {
      while (end.fd >= 0 && ::poll(&end, 1, 0) > 0) read_all();
    }
  }
  int input() const { return in_ ? in_->ends[1] : -1; }
  void close_input() { in_->close(1); }
  std::optional<int> ended() { return child_->ended(); }

  static constexpr std::size_t kMostOutput = std::size_t{1} << 28;
  std::string printed;
  std::string complaint;

 private:
  std::optional<Pipe> in_;
  Pipe out_, err_;
  std::optional<Child> child_;
  std::array<pollfd, 3> watched_{};
};

Program::Program(const Command& command, bool talks) {
  if (talks) in_.emplace();
  std::vector<std::string> words = command.arguments;
  std::vector<std::string> variables = environment();
  const std::vector<char*> arguments = pointers(words);
  std::vector<char*> settings = pointers(variables);
  const std::string directory = command.directory.string();
  Pipe failure;  // closed by a successful exec; else the child writes errno
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) throw Error(ErrorKind::storage, fmt::format("no process: {}", std::strerror(errno)));
  if (id == 0) {
    // Between fork and exec only what is safe in a process of many threads.
    ::setpgid(0, 0);
    platform::end_with_parent(SIGKILL);
    const int input = in_ ? in_->ends[0] : ::open("/dev/null", O_RDONLY);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::getppid() == parent && input >= 0 && ::dup2(input, STDIN_FILENO) >= 0 &&
        ::dup2(out_.ends[1], STDOUT_FILENO) >= 0 && ::dup2(err_.ends[1], STDERR_FILENO) >= 0 &&
        (directory.empty() || ::chdir(directory.c_str()) == 0)) {
      platform::execute(arguments.data(), settings.data());
    }
    const int reason = errno;
    static_cast<void>(!::write(failure.ends[1], &reason, sizeof reason));
    ::_exit(127);
  }
  ::setpgid(id, id);
  child_.emplace(id);
  if (in_) in_->close(0);
  out_.close(1);
  err_.close(1);
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
  watched_ = {
      pollfd{out_.ends[0], POLLIN, 0}, pollfd{err_.ends[0], POLLIN, 0}, pollfd{-1, POLLOUT, 0}};
  for (const int end : {out_.ends[0], err_.ends[0], input()}) {
    if (end >= 0) ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
}

/// How a program that should not have ended has ended.
std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format(
        "was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

/// Time since it was made.
class Stopwatch {
 public:
  bool beyond(const std::optional<double>& seconds) const {
    return seconds && std::chrono::duration<double>(Clock::now() - start_).count() > *seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Keeps a program that ends early from killing this one with SIGPIPE: the signal is held back in
/// this thread, and one that arrived is taken away at the end.
class HoldBrokenPipe {
 public:
  HoldBrokenPipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~HoldBrokenPipe() {
    platform::take_pending(SIGPIPE);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HoldBrokenPipe(const HoldBrokenPipe&) = delete;
  HoldBrokenPipe& operator=(const HoldBrokenPipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace processes

using namespace processes;

std::optional<std::string> output_of(const Command& command, const std::stop_token& stop) {
  const Stopwatch time;
  Program program(command, false);
  std::optional<int> status;
  while (!status) {
    if (stop.stop_requested()) return std::nullopt;
    if (time.beyond(command.max_seconds)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("{} took longer than {} s; {}",
                              name_of(command),
                              *command.max_seconds,
                              tail(program.complaint)));
    }
    if (program.printed.size() > Program::kMostOutput) {
      throw Error(ErrorKind::input,
                  fmt::format("{} printed more than {} MB, expected a table",
                              name_of(command),
                              Program::kMostOutput >> 20));
    }
    program.wait(false);
    program.read_all();
    status = program.ended();
  }
  program.read_rest();
  if (WIFSIGNALED(*status) || WEXITSTATUS(*status) != 0) {
    throw Error(
        ErrorKind::numerical,
        fmt::format("{} {}; {}", name_of(command), how_it_ended(*status), tail(program.complaint)));
  }
  return std::move(program.printed);
}

struct Conversation::Running {
  explicit Running(Command c) : command(std::move(c)), program(command, true) {}
  Command command;
  Program program;
};

Conversation::Conversation(Command command)
    : running_(std::make_unique<Running>(std::move(command))) {}

Conversation::~Conversation() {
  Program& program = running_->program;
  program.close_input();
  const Stopwatch time;
  while (!program.ended() && !time.beyond(1.0)) {
    program.wait(false);
    program.read_all();
    program.printed.clear();
  }
}

std::string Conversation::answer(std::string_view line, const std::string& what) {
  const Command& command = running_->command;
  Program& program = running_->program;
  constexpr std::size_t kShown = 60;
  program.read_all();
  if (!program.printed.empty()) {
    throw Error(ErrorKind::input,
                fmt::format("{} printed '{}' before {}; expected one line for every line it reads",
                            name_of(command),
                            program.printed.substr(0, std::min(program.printed.find('\n'), kShown)),
                            what));
  }
  const HoldBrokenPipe hold;
  const Stopwatch time;
  std::string left(line);
  left += '\n';
  std::size_t seen = 0;  // of its output: no end of a line is there
  while (true) {
    if (!left.empty()) {
      const ssize_t put = ::write(program.input(), left.data(), left.size());
      if (put > 0) left.erase(0, static_cast<std::size_t>(put));
      if (put < 0 && errno != EAGAIN && errno != EINTR) left.clear();  // it does not read; it ends
    }
    const std::optional<int> status = program.ended();  // before the last look at its output
    program.read_all();
    if (status) program.read_rest();
    const std::size_t end = program.printed.find('\n', seen);
    if (end != std::string::npos && left.empty()) {
      std::string answer = program.printed.substr(0, end);
      program.printed.erase(0, end + 1);
      return answer;
    }
    seen = end == std::string::npos ? program.printed.size() : end;
    if (status) {
      throw Error(ErrorKind::numerical,
                  fmt::format("{} {} in {}; {}",
                              name_of(command),
                              how_it_ended(*status),
                              what,
                              tail(program.complaint)));
    }
    if (time.beyond(command.max_seconds)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("{} took longer than {} s for {}; {}",
                              name_of(command),
                              *command.max_seconds,
                              what,
                              tail(program.complaint)));
    }
    if (seen >= Program::kMostOutput) {
      throw Error(ErrorKind::input,
                  fmt::format("{} printed more than {} MB for {}, expected a line",
                              name_of(command),
                              Program::kMostOutput >> 20,
                              what));
    }
    program.wait(!left.empty());
  }
}

}  // namespace attica::sources
