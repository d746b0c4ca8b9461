/// @file
/// @brief `attica mcp`: verbs as tools for assistants, on standard input and output.

#include <iostream>
#include <string>

#include "attica/app/command/exit_codes.hpp"
#include "attica/app/command/text.hpp"
#include "attica/app/verbs/mcp_server.hpp"

namespace attica::app {

int mcp_verb(const Options& options, const Registry& registry) {
  const std::vector<std::string> program = launcher(options.command_line);
  const McpServer server(
      registry, std::filesystem::current_path(), [&](const std::vector<std::string>& words) {
        std::vector<std::string> command = program;
        command.insert(command.end(), words.begin(), words.end());
        return run_child(command, [](const std::string&) { return true; });
      });
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (const auto answer = server.answer(line)) {
      put("{}\n", *answer);
      std::fflush(stdout);
    }
  }
  return kExitDone;
}

}  // namespace attica::app
