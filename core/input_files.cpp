#include "attica/core/input_files.hpp"

#include <optional>

#include "attica/core/read_bytes.hpp"

namespace attica {

std::shared_ptr<const std::string> InputFiles::bytes(const std::filesystem::path& path) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<const std::string>& entry = bytes_[std::filesystem::weakly_canonical(path)];
  if (!entry) {
    if (std::optional<std::string> read = read_bytes(path))
      entry = std::make_shared<const std::string>(*std::move(read));
  }
  return entry;
}

}  // namespace attica
