#include "attica/plots/gnuplot.hpp"

#include <fmt/format.h>
#include <gnuplot-iostream.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "attica/core/error.hpp"
#include "attica/core/platform.hpp"
#include "attica/core/read_bytes.hpp"

namespace attica::plots {
namespace {

/// Keeps a gnuplot that ends early from killing this program with SIGPIPE: the signal is held back
/// in this thread, and one that arrived is taken away at the end.
class HoldBrokenPipe {
 public:
  HoldBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~HoldBrokenPipe() {
    platform::take_pending(SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HoldBrokenPipe(const HoldBrokenPipe&) = delete;
  HoldBrokenPipe& operator=(const HoldBrokenPipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

std::string shell_quote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// gnuplot's first sentence about what went wrong ("line 7: undefined variable: mark"); later
/// errors follow from it.
std::string complaint(const std::string& log) {
  std::string last;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    const auto start = line.find_first_not_of(" \t^");
    if (start == std::string::npos) continue;
    last = line.substr(start);
    const bool warning = last.find("warning:") != std::string::npos;
    if (!warning && last.find("line ") != std::string::npos && last.find(": ") != std::string::npos)
      break;
  }
  return last;
}

}  // namespace

std::filesystem::path bundled_gnuplot() {
  const std::filesystem::path file = platform::code_file().parent_path() / "bin" / "gnuplot";
  return ::access(file.c_str(), X_OK) == 0 ? file : std::filesystem::path();
}

bool has_system_gnuplot() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder.empty() ? "." : folder) / "gnuplot";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0)
      return true;
  }
  return false;
}

bool run_gnuplot(const std::string& script,
                 const std::filesystem::path& folder,
                 const std::string& name,
                 const std::string& format) {
  std::string command = "gnuplot";
  if (!has_system_gnuplot()) {
    const std::filesystem::path bundled = bundled_gnuplot();
    if (bundled.empty() || format != "svg") return false;
    // Where there is no /proc, the loader does not know beside what it has to look for libraries.
    command = "LD_ORIGIN_PATH=" + shell_quote(bundled.parent_path().string()) + " " +
              shell_quote(bundled.string());
  }
  const std::string log = name + ".log";
  const std::string status_file = name + ".status";
  // The pipe tells nothing about the end of the program at its other side: the shell notes the
  // status in a file.
  {
    const HoldBrokenPipe hold;
    Gnuplot pipe(
        "cd " + shell_quote(folder.string()) +
        fmt::format(" && {{ {} -d - >{} 2>&1; echo $? >{}; }}", command, log, status_file));
    pipe << script;
    pipe.flush();
  }
  const std::string status = read_bytes(folder / status_file).value_or("");
  if (status.empty()) {
    throw Error(ErrorKind::storage,
                "cannot write to '" + folder.string() + "' (is the disk full?)");
  }
  constexpr int kCommandNotFound = 127;
  const int code = std::stoi(status);
  if (code == kCommandNotFound) return false;
  if (code != 0) {
    throw Error(
        ErrorKind::input,
        "gnuplot refused the figure's script: " + complaint(read_bytes(folder / log).value_or("")));
  }
  return true;
}

}  // namespace attica::plots
