/// Messages to `attica mcp`: every one is answered by one line of JSON, or is a notification; a
/// command that comes of it names no file outside.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "attica/app/verbs/mcp_server.hpp"
#include "attica/studies/study.hpp"

using namespace attica;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Registry registry(studies());
  static const app::McpServer server(
      registry, "/", [](const std::vector<std::string>& words) -> app::ChildEnd {
        if (words.size() < 4 || words[1] != "--json") std::abort();
        return {.code = 0, .output = "{}", .talk = ""};
      });
  const auto answer = server.answer({reinterpret_cast<const char*>(data), size});
  if (!answer) return 0;
  if (answer->find('\n') != std::string::npos) std::abort();
  const app::Json object = app::Json::parse(*answer);
  if (object.contains("result") == object.contains("error")) std::abort();
  return 0;
}
