#pragma once
/// @file
/// @brief A user's program as a part of a study: run, heard, and ended when the time is over.

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace attica::sources {

/// What a program is to be run as.
struct Command {
  std::vector<std::string> arguments;  ///< the program first; no shell reads them
  std::filesystem::path directory;     ///< where it runs
  std::optional<double> max_seconds = {};
};

/// @brief What the program printed, when it ended with code 0; none if it was asked to stop before
/// that. It runs in a process group of its own, with an empty standard input, LC_ALL=C and one
/// thread for the numerical libraries unless the environment says otherwise; whatever of the group
/// is left when it ends, or when this process does, is killed.
/// @throws Error: numerical if it ends otherwise or takes longer than max_seconds, with the last
/// lines of its standard error; input if it cannot be started
std::optional<std::string> output_of(const Command& command, const std::stop_token& stop = {});

/// @brief A program that stays: it answers every line that it reads with a line. It runs as for
/// `output_of`, apart from its standard input, and ends with this object: its input is closed, and
/// what is still there a second later is killed.
class Conversation {
 public:
  /// @param command max_seconds are those of one answer
  /// @throws Error of kind input if it cannot be started
  explicit Conversation(Command command);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// @brief What the program answers, without the end of the line. One thread at a time.
  /// @param line without its end
  /// @param what what is asked, for messages: "pass 3"
  /// @throws Error: numerical if it ends before, or takes longer than max_seconds, with the last
  /// lines of its standard error; input if it has printed a line that nothing asked for
  std::string answer(std::string_view line, const std::string& what);

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace attica::sources
