#pragma once
/// @file
/// @brief A file as it is.

#include <filesystem>
#include <optional>
#include <string>

namespace attica {

/// @brief All bytes of a file; none if it is no regular file (a folder, a device) or cannot be
/// read. What to say of that is the caller's.
std::optional<std::string> read_bytes(const std::filesystem::path& path);

}  // namespace attica
