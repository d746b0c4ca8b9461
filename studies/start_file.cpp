#include "attica/studies/start_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "attica/core/error.hpp"
#include "attica/studies/used_with.hpp"

namespace attica {
namespace {

/// "U=a[2,0],v=b" at the commas outside of brackets.
std::vector<std::string> assignments_of(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (!parts.back().empty() || c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::optional<StartFile> StartFile::of(const Configuration& configuration,
                                       const std::vector<std::string>& arrays,
                                       const std::vector<std::string>& replaced) {
  if (!configuration.has(kInitFile)) return std::nullopt;
  for (const std::string& key : replaced) {
    if (!given_otherwise(configuration, key)) continue;
    throw Error(
        ErrorKind::input,
        fmt::format(
            "parameter '{}' has no meaning with {}, which stands in its place", key, kInitFile),
        key);
  }
  const ArrayAddress address = array_address(configuration.text(kInitFile));
  StartFile start;
  start.file_ = address.file;
  try {
    start.arrays_ =
        std::make_shared<const NamedArrays>(configuration.input_text(kInitFile), address.file);
  } catch (const Error& error) {
    if (!error.parameter().empty()) throw;
    throw Error(
        error.kind(), fmt::format("parameter '{}': {}", kInitFile, error.what()), kInitFile);
  }
  start.single_ = start.arrays_->names() == std::vector<std::string>{""};
  const auto refuse = [&] {
    throw invalid_parameter(kInitFile,
                            configuration.text(kInitFile),
                            arrays.size() == 1
                                ? std::string("FILE:NAME, the array that is the start")
                                : fmt::format("FILE, or FILE:{}=NAME,... with names of {}",
                                              arrays.front(),
                                              fmt::join(arrays, ", ")));
  };
  if (start.single_ && arrays.size() > 1) refuse();
  if (address.arrays.empty()) return start;
  for (const std::string& part : assignments_of(address.arrays)) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (std::ranges::any_of(start.assigned_, [&](const auto& a) { return a.first == name; })) {
      throw invalid_parameter(kInitFile,
                              configuration.text(kInitFile),
                              fmt::format("one array for '{}', not two", name));
    }
    if (equals != part.npos && std::ranges::find(arrays, name) != arrays.end()) {
      start.assigned_.emplace_back(name, part.substr(equals + 1));
    } else if (arrays.size() == 1 && start.assigned_.empty()) {
      start.assigned_.emplace_back(arrays.front(), part);
    } else {
      refuse();
    }
  }
  return start;
}

std::string StartFile::meant(const std::string& name) const {
  for (const auto& [ours, theirs] : assigned_) {
    if (ours == name) return theirs;
  }
  return name;
}

bool StartFile::has(const std::string& name) const {
  return single_ || arrays_->has(name) ||
         std::ranges::any_of(assigned_, [&](const auto& a) { return a.first == name; });
}

NumberArray StartFile::array(const std::string& name, std::initializer_list<Length> shape) const {
  const std::string theirs = meant(name);
  NumberArray array = [&] {
    try {
      return arrays_->at(theirs);
    } catch (const Error& error) {
      throw Error(
          error.kind(), fmt::format("parameter '{}': {}", kInitFile, error.what()), kInitFile);
    }
  }();
  bool fits = array.shape.size() == shape.size();
  std::vector<std::string> sizes;
  std::vector<std::string> words;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const auto& [length, word] = *(shape.begin() + static_cast<std::ptrdiff_t>(k));
    fits = fits && (length == 0 || array.shape[k] == static_cast<std::size_t>(length));
    sizes.push_back(length == 0 ? word : fmt::format("{}", length));
    words.emplace_back(word);
  }
  if (!fits) {
    throw invalid_parameter(
        kInitFile,
        fmt::format("{}:{} of shape {}", file_, theirs, shape_text(array.shape)),
        fmt::format("the shape {} ({})", fmt::join(sizes, " x "), fmt::join(words, " x ")));
  }
  constexpr double kLargestEntry = 1e150;  // its square is a finite number
  const auto large = std::ranges::find_if(
      array.values, [](double entry) { return std::abs(entry) > kLargestEntry; });
  if (large != array.values.end()) {
    throw invalid_parameter(kInitFile,
                            fmt::format("{}:{} with an entry {:g}", file_, theirs, *large),
                            fmt::format("entries within {:g} of 0", kLargestEntry));
  }
  return array;
}

Eigen::MatrixXd StartFile::matrix(const std::string& name, Length rows, Length columns) const {
  return matrix_of(array(name, {rows, columns}), file_ + ":" + meant(name)).values;
}

}  // namespace attica
