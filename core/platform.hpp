#pragma once
/// @file
/// @brief What Linux offers and other systems call otherwise, or lack. Nothing else in attica calls
/// what is not POSIX; the calls of each system stand in platform.cpp alone.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attica::platform {

/// @brief Keeps freed memory in the process, for programs (main calls this first).
///
/// Replicates allocate the same matrices again and again. Handed back to the system in between,
/// their pages are cleared anew each time: up to a third of a run. Elsewhere than with glibc
/// nothing happens.
void keep_freed_memory() noexcept;

/// @brief The file of this program, all links followed; empty if the system does not say.
std::filesystem::path program_file();

/// @brief The file that this code was loaded from: a shared library, or the program. Nothing of
/// /proc is needed for a shared library; empty if the system does not say.
std::filesystem::path code_file();

/// @brief A name by which this process can be started again: on Linux also after its file was
/// replaced. Empty if the system does not say.
std::string program_to_start();

/// @brief The words that this process was started with, those of an interpreter included; empty if
/// the system does not say.
std::vector<std::string> command_line();

/// @brief Memory that processes may still take, in bytes, as the system and its limits say; nothing
/// where neither is known.
std::optional<double> available_memory();

/// @brief Refuses memory beyond what is available now, for programs: an allocation too large throws
/// std::bad_alloc, where the system would end the process by a signal. Children that `execute`
/// starts have the old limit.
/// @return false: there is no limit, as elsewhere than on Linux and under sanitizers
bool limit_memory() noexcept;
/// @brief The limit from before `limit_memory`. Safe between fork and exec.
void lift_memory_limit() noexcept;

/// @brief The most memory that this process has held, in bytes.
double peak_memory();

/// @brief The variables of the environment, "NAME=VALUE", ended by a null pointer.
char**& environment() noexcept;

/// @brief A pipe (reading end, writing end) that children do not inherit. @return false: see errno
bool open_pipe(std::array<int, 2>& ends) noexcept;

/// @brief A new terminal (our end, a child's end) that children do not inherit. @return false: see
/// errno
bool open_terminal(int& ours, int& childs);

// Between fork and exec, in processes of many threads:

/// @brief The signal comes when the parent ends. Only Linux has that; elsewhere a child that its
/// parent could not end (SIGKILL) runs on until it next writes.
void end_with_parent(int signal) noexcept;

/// @brief Closes all descriptors from this one on.
void close_from(int first) noexcept;

/// @brief Becomes another program, looked for in PATH. @return only on failure: see errno
void execute(char* const arguments[], char** variables) noexcept;

/// @brief Takes away signals of a kind that is blocked in this thread and has arrived.
void take_pending(int signal) noexcept;

}  // namespace attica::platform
