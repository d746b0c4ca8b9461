#include "attica/app/run/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "attica/app/run/files.hpp"
#include "attica/core/error.hpp"

namespace attica::app {
namespace {

struct Close {
  void operator()(struct archive* a) const { archive_write_free(a); }
  void operator()(struct archive_entry* e) const { archive_entry_free(e); }
};

constexpr long kFirstDay = 315619200;  // 1980-01-02: no earlier day is one in every time zone
constexpr mode_t kPlain = 0644;
constexpr mode_t kProgram = 0755;

/// Appends what libarchive writes.
la_ssize_t append(struct archive*, void* target, const void* bytes, size_t length) {
  static_cast<std::string*>(target)->append(static_cast<const char*>(bytes), length);
  return static_cast<la_ssize_t>(length);
}

}  // namespace

void write_zip(const std::filesystem::path& path, const std::vector<ArchivedFile>& files) {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  const long time = epoch == nullptr ? kFirstDay : std::max(kFirstDay, std::atol(epoch));
  std::string bytes;
  const std::unique_ptr<struct archive, Close> zip(archive_write_new());
  const auto require_done = [&](int code) {
    if (code == ARCHIVE_OK) return;
    throw Error(
        ErrorKind::storage,
        fmt::format("cannot write '{}': {}", path.string(), archive_error_string(zip.get())));
  };
  require_done(archive_write_set_format_zip(zip.get()));
  // Names are marked as UTF-8: where they are not, readers take them for code page 437.
  require_done(archive_write_set_options(zip.get(), "hdrcharset=UTF-8"));
  require_done(archive_write_set_bytes_in_last_block(zip.get(), 1));
  require_done(archive_write_open(zip.get(), &bytes, nullptr, append, nullptr));
  for (const ArchivedFile& file : files) {
    const std::unique_ptr<struct archive_entry, Close> entry(archive_entry_new());
    archive_entry_set_pathname_utf8(entry.get(), file.name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), file.executable ? kProgram : kPlain);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.content.size()));
    archive_entry_set_mtime(entry.get(), time, 0);
    require_done(archive_write_header(zip.get(), entry.get()));
    const la_ssize_t written =
        archive_write_data(zip.get(), file.content.data(), file.content.size());
    if (written != static_cast<la_ssize_t>(file.content.size())) require_done(ARCHIVE_FATAL);
  }
  require_done(archive_write_close(zip.get()));
  write_atomically(path, bytes);
}

}  // namespace attica::app
