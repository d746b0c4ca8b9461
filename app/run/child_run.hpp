#pragma once
/// @file
/// @brief A run in a process of its own, started by this program and ended with it.

#include <functional>
#include <string>
#include <vector>

namespace attica::app {

/// How a run ended.
struct ChildEnd {
  int code = 0;        ///< exit code of the program; 128 + number after a signal
  std::string output;  ///< what it printed: with --json, one object
  std::string talk;    ///< its remarks, warnings and errors, without progress bars
};

/// @brief What to put before the arguments of the program so that it starts again as it was started
/// itself, also where Python did that.
/// @param own arguments of this program's main, its own name included
std::vector<std::string> launcher(const std::vector<std::string>& own);

/// @brief Carries out a command of `attica run` or the like, which draws its progress bar for us.
///
/// The process gets SIGINT, once, when this one ends, however it does: it stops at a checkpoint.
/// @param heard is called at least four times a second with the newest "45 %, about 3 s left",
/// empty before there is one. As soon as it returns false the run gets SIGINT, and is waited for.
/// @throws Error of kind storage if no process can be made
ChildEnd run_child(const std::vector<std::string>& command,
                   const std::function<bool(const std::string& progress)>& heard);

}  // namespace attica::app
