#pragma once
/// @file
/// @brief The files on which a user's command depends: what a run of it is told apart by, and what
/// its provenance names.

#include <filesystem>
#include <string>
#include <vector>

namespace attica::sources {

/// A command as configured, its keys in braces as they stand.
struct WatchedCommand {
  std::vector<std::string> arguments;
  std::filesystem::path directory;       ///< in which it runs
  std::vector<std::string> inputs = {};  ///< further files: paths, folders or patterns with * ? []
};

struct WatchedFiles {
  std::vector<std::filesystem::path> files;  ///< each once, as found
  std::vector<std::string> unmatched;        ///< of the inputs: names and patterns without a file
  std::vector<std::string> warnings;         ///< what cannot be followed
};

/// @brief Files that the command names, what its inputs match, and the modules that Python scripts
/// among them import, directly or through each other, from the script's folder, the folder in which
/// the command runs (`-m`, `-c`) and PYTHONPATH. Imports are found by reading the source, not by
/// running it: those made at run time (importlib, exec) and what other interpreters read are not
/// followed; a warning says so.
WatchedFiles watched_files(const WatchedCommand& command);

/// @brief The beginning of the command that starts Python, for a question of one's own to it
/// (`-c`); empty if the command does not run Python.
std::vector<std::string> python_of(const WatchedCommand& command);

/// @brief Names of the modules that Python source imports: "a.b", with leading dots if relative;
/// of `from a import b` both "a" and "a.b".
std::vector<std::string> imported_names(std::string_view source);

}  // namespace attica::sources
