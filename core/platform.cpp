#include "attica/core/platform.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>   // NOLINT(*-deprecated-headers): popen
#include <stdlib.h>  // NOLINT(*-deprecated-headers): posix_openpt
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <limits>
#include <mutex>

#if defined(__linux__)
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <crt_externs.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#elif defined(__FreeBSD__)
#include <sys/sysctl.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif
#if !defined(__APPLE__) && !defined(__linux__)
extern char** environ;  // NOLINT: POSIX leaves its declaration to programs
#endif

namespace attica::platform {

namespace fs = std::filesystem;

namespace {

void keep_from_children(int descriptor) noexcept { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#define ATTICA_LIMITS_MEMORY  // sanitizers reserve terabytes
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define ATTICA_LIMITS_MEMORY
#endif
#endif
struct rlimit data_before = {};  // NOLINT(*-avoid-non-const-global-variables): of the process
bool data_limited = false;       // NOLINT(*-avoid-non-const-global-variables)

}  // namespace

void keep_freed_memory() noexcept {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

fs::path program_file() {
  std::error_code ignored;
#if defined(__linux__)
  // A file that was replaced since is read as "NAME (deleted)": its folder is right.
  return fs::read_symlink("/proc/self/exe", ignored);
#else
  const std::string name = program_to_start();
  return name.empty() ? fs::path() : fs::canonical(name, ignored);
#endif
}

fs::path code_file() {
  Dl_info info{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(&keep_freed_memory), &info) != 0;
  const fs::path file = found && info.dli_fname != nullptr ? info.dli_fname : "";
  std::error_code ignored;
  return file.extension() == ".so" ? fs::absolute(file, ignored).lexically_normal()
                                   : program_file();
}

std::string program_to_start() {
#if defined(__linux__)
  return "/proc/self/exe";
#elif defined(__APPLE__)
  std::uint32_t size = 0;
  ::_NSGetExecutablePath(nullptr, &size);
  std::string name(size, '\0');
  if (::_NSGetExecutablePath(name.data(), &size) != 0) return {};
  return name.c_str();
#elif defined(__FreeBSD__)
  const std::array<int, 4> question{CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};
  std::array<char, 4096> name{};
  std::size_t size = name.size();
  if (::sysctl(question.data(), question.size(), name.data(), &size, nullptr, 0) != 0) return {};
  return name.data();
#else
  return {};
#endif
}

std::vector<std::string> command_line() {
  std::vector<std::string> words;
#if defined(__APPLE__)
  char** const first = *::_NSGetArgv();
  words.assign(first, first + *::_NSGetArgc());
#else
  std::ifstream file("/proc/self/cmdline",
                     std::ios::binary);  // of the BSDs too, where it is mounted
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
#endif
  return words;
}

std::optional<double> available_memory() {
  double least = std::numeric_limits<double>::infinity();
#if defined(__APPLE__)
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  if (::host_statistics64(
          ::mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) ==
      KERN_SUCCESS) {
    least = static_cast<double>(::sysconf(_SC_PAGESIZE)) *
            (static_cast<double>(pages.free_count) + static_cast<double>(pages.inactive_count));
  }
#else
  std::ifstream table("/proc/meminfo");
  for (std::string word; table >> word;) {
    if (word != "MemAvailable:") continue;
    double kilobytes = 0;
    constexpr double kKilo = 1024;
    if (table >> kilobytes) least = kKilo * kilobytes;
  }
  double limit = 0;
  double used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used) {
    least = std::min(least, limit - used);
  }
#endif
  struct rlimit own = {};
  if (::getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
    least = std::min(least, static_cast<double>(own.rlim_cur));
  if (!std::isfinite(least)) return std::nullopt;
  return least;
}

bool limit_memory() noexcept {
#ifdef ATTICA_LIMITS_MEMORY
  const std::optional<double> available = available_memory();
  if (data_limited || !available || ::getrlimit(RLIMIT_DATA, &data_before) != 0)
    return data_limited;
  constexpr double kReserved = 1 << 30;  // stacks of threads, which are never filled
  struct rlimit lower = data_before;
  lower.rlim_cur = std::min(lower.rlim_cur, static_cast<rlim_t>(*available + kReserved));
  data_limited = ::setrlimit(RLIMIT_DATA, &lower) == 0;
#endif
  return data_limited;
}

void lift_memory_limit() noexcept {
  if (data_limited) ::setrlimit(RLIMIT_DATA, &data_before);
}

double peak_memory() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr double kUnit = 1;
#else
  constexpr double kUnit = 1024;
#endif
  return kUnit * static_cast<double>(usage.ru_maxrss);
}

char**& environment() noexcept {
#ifdef __APPLE__
  return *::_NSGetEnviron();  // libraries have no `environ` there
#else
  return environ;
#endif
}

bool open_pipe(std::array<int, 2>& ends) noexcept {
#ifdef __linux__
  return ::pipe2(ends.data(), O_CLOEXEC) == 0;
#else
  // A child that another thread starts in between inherits it.
  if (::pipe(ends.data()) != 0) return false;
  for (const int end : ends) keep_from_children(end);
  return true;
#endif
}

bool open_terminal(int& ours, int& childs) {
  static std::mutex one_name;  // which ptsname returns
  const std::lock_guard lock(one_name);
  ours = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (ours < 0) return false;
  keep_from_children(ours);
  const char* name = nullptr;
  if (::grantpt(ours) == 0 && ::unlockpt(ours) == 0) name = ::ptsname(ours);
  if (name != nullptr) childs = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return name != nullptr && childs >= 0;
}

void end_with_parent([[maybe_unused]] int signal) noexcept {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, signal);
#endif
}

void close_from(int first) noexcept {
#ifdef __linux__
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) == 0) return;  // since Linux 5.9
#endif
  const long most = ::sysconf(_SC_OPEN_MAX);
  constexpr long kMost = 65536;
  for (long k = first; k < std::min(most, kMost); ++k) ::close(static_cast<int>(k));
}

void execute(char* const arguments[], char** variables) noexcept {
  environment() = variables;
  lift_memory_limit();
  ::execvp(arguments[0], arguments);
}

void take_pending(int signal) noexcept {
  sigset_t kind;
  ::sigemptyset(&kind);
  ::sigaddset(&kind, signal);
#ifdef __linux__
  const timespec no_wait{};
  while (::sigtimedwait(&kind, nullptr, &no_wait) > 0) {
  }
#else
  sigset_t arrived;
  int taken = 0;
  while (::sigpending(&arrived) == 0 && ::sigismember(&arrived, signal) == 1 &&
         ::sigwait(&kind, &taken) == 0) {
  }
#endif
}

}  // namespace attica::platform
