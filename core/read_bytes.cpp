#include "attica/core/read_bytes.hpp"

#include <fstream>
#include <iterator>

namespace attica {

std::optional<std::string> read_bytes(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace attica
