#pragma once
/// @file
/// @brief attica's verbs as tools of the Model Context Protocol: messages in, messages out.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attica/app/run/child_run.hpp"
#include "attica/app/run/json.hpp"
#include "attica/app/verbs/verbs.hpp"

namespace attica::app {

/// @brief Answers JSON-RPC messages of the Model Context Protocol (revision 2025-06-18).
///
/// Tools are the verbs claims, list, theory, judge, plan, fit and bound with their options, by the
/// tables of the command line. Every file must lie in one folder, and a configuration that names a
/// command is refused: whoever writes the messages may be a stranger.
class McpServer {
 public:
  /// Carries out `attica WORDS`.
  using Runner = std::function<ChildEnd(const std::vector<std::string>& words)>;

  /// @param folder that files must lie in
  McpServer(const Registry& registry, const std::filesystem::path& folder, Runner run);

  /// @brief The answer to a message, without the end of the line; none to a notification. Whatever
  /// the message is, it is answered.
  std::optional<std::string> answer(std::string_view message) const;

 private:
  Json result(const std::string& method, const Json& parameters) const;
  Json call(const Json& parameters) const;
  /// @brief The command of a call. @throws Error of kind input for what a tool does not take
  std::vector<std::string> command(const Json& parameters) const;
  void require_inside(const std::string& what, const std::filesystem::path& file) const;
  void require_harmless(const std::string& target, const Json& arguments) const;

  const Registry& registry_;
  std::filesystem::path folder_;
  Runner run_;
};

}  // namespace attica::app
