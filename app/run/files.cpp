#include "attica/app/run/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "attica/app/run/descriptor.hpp"
#include "attica/core/error.hpp"

namespace attica::app {
namespace {

Error storage_error(std::string_view action, const std::filesystem::path& path) {
  return {ErrorKind::storage,
          fmt::format("cannot {} '{}': {}", action, path.string(), std::strerror(errno))};
}

void write_all(int descriptor, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw storage_error("write", path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

constexpr mode_t kFileMode = 0644;

/// Devices and pipes are written to; a file renamed into their place would be no device any more.
bool is_special(const std::filesystem::path& path) {
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(path, missing);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

}  // namespace

void write_atomically(const std::filesystem::path& path, std::string_view content) {
  if (is_special(path)) {
    const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.number < 0) throw storage_error("open", path);
    write_all(device.number, content, path);
    return;
  }
  static std::atomic<unsigned> counter{0};  // distinct names for concurrent writers of this process
  const std::filesystem::path temporary =
      path.parent_path() /
      fmt::format(".{}.{}.{}.tmp", path.filename().string(), ::getpid(), counter++);
  try {
    // No O_EXCL: a killed process of the same number (usual in containers) may have left its own.
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode));
    if (file.number < 0) throw storage_error("create", path);
    write_all(file.number, content, path);
    if (::fsync(file.number) != 0) throw storage_error("flush", path);
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw storage_error("rename into", path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf()).good()) {
    std::error_code is_no_file;
    if (std::filesystem::file_size(path, is_no_file) == 0 && !is_no_file) return {};
    throw Error(ErrorKind::storage, fmt::format("cannot read '{}'", path.string()));
  }
  return content.str();
}

std::string sha256(std::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(content.data(), content.size(), digest.data(), &length, EVP_sha256(), nullptr) !=
      1) {
    throw Error(ErrorKind::storage, "SHA-256 is not available");
  }
  std::string hex;
  for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / ".lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode);
  if (descriptor_ < 0) throw storage_error("open", path);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 256> owner{};
    const ssize_t length = ::read(descriptor_, owner.data(), owner.size() - 1);
    ::close(descriptor_);
    throw Error(ErrorKind::storage,
                fmt::format("run folder '{}' is in use by {}",
                            folder.string(),
                            length > 0 ? owner.data() : "another process"));
  }
  std::array<char, 128> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string owner = fmt::format("process {} on {}", ::getpid(), host.data());
  if (::ftruncate(descriptor_, 0) == 0) write_all(descriptor_, owner, path);
}

std::string lock_owner(const std::filesystem::path& folder) {
  const int descriptor = ::open((folder / ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::string owner;
  if (::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    std::array<char, 256> text{};
    const ssize_t length = ::read(descriptor, text.data(), text.size() - 1);
    owner = length > 0 ? text.data() : "another process";
  }
  ::close(descriptor);
  return owner;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace attica::app
