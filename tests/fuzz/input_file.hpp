#pragma once
/// @file
/// @brief The fuzzer's bytes as a file that readers can open, for as long as the object lives.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

class InputFile {
 public:
  InputFile(const std::uint8_t* data, std::size_t size)
      : path_((std::filesystem::temp_directory_path() / "attica-fuzz-XXXXXX").string()) {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) std::abort();
    while (size > 0) {
      const ssize_t written = ::write(descriptor, data, size);
      if (written <= 0) std::abort();
      data += written;
      size -= static_cast<std::size_t>(written);
    }
    ::close(descriptor);
  }
  ~InputFile() { ::unlink(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};
