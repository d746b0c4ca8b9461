#include "attica/core/input_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "attica/core/error.hpp"
#include "attica/core/matrix_file.hpp"
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

NumericTable InputFiles::numbers(const std::filesystem::path& path, CsvHeader header) {
  const std::shared_ptr<const std::string> read = bytes(path);
  if (!read) throw Error(ErrorKind::input, fmt::format("cannot read '{}'", path.string()));
  MatrixFile file = parse_matrix(*read, path.string(), header);
  const std::scoped_lock lock(mutex_);
  for (std::string& remark : file.remarks) {
    if (std::ranges::find(remarks_, remark) == remarks_.end())
      remarks_.push_back(std::move(remark));
  }
  return std::move(file.table);
}

std::vector<std::string> InputFiles::remarks() {
  const std::scoped_lock lock(mutex_);
  return remarks_;
}

NumericTable input_numbers(const std::shared_ptr<InputFiles>& files,
                           const std::filesystem::path& path,
                           CsvHeader header) {
  return files ? files->numbers(path, header) : read_numeric_csv(path, header);
}

}  // namespace attica
