#include "attica/studies/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/core/input_files.hpp"
#include "attica/core/named_arrays.hpp"

namespace attica {
namespace {

std::string shown(const Value& value) {
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* i = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) {
    const std::string digits = fmt::format("{}", *d);
    return digits.find_first_of(".en") == std::string::npos ? digits + ".0" : digits;
  }
  if (const auto* s = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *s);
  return std::holds_alternative<List>(value) ? "a list" : "a table";
}

}  // namespace

bool Range::contains(double value) const {
  return std::isfinite(value) && (low_open ? value > low : value >= low) &&
         (high_open ? value < high : value <= high);
}

std::string Range::describe(std::string_view name) const {
  const bool bounded_below = std::isfinite(low);
  const bool bounded_above = std::isfinite(high);
  if (bounded_below && bounded_above) {
    return fmt::format(
        "{} {} {} {} {}", low, low_open ? "<" : "<=", name, high_open ? "<" : "<=", high);
  }
  if (bounded_below) return fmt::format("{} {} {}", name, low_open ? ">" : ">=", low);
  if (bounded_above) return fmt::format("{} {} {}", name, high_open ? "<" : "<=", high);
  return "a finite number";
}

Value Parameter::checked(const Value& scalar, std::string_view shown_name) const {
  const auto refuse = [&](const std::string& expected) {
    throw invalid_parameter(shown_name, shown(scalar), expected);
  };
  switch (type) {
    case ParameterType::flag:
      if (!std::holds_alternative<bool>(scalar)) refuse("true or false");
      return scalar;
    case ParameterType::file:
    case ParameterType::text: {
      const auto* text = std::get_if<std::string>(&scalar);
      if (text == nullptr)
        refuse(choices.empty() ? "a text in quotes"
                               : fmt::format("\"{}\"", fmt::join(choices, "\" | \"")));
      if (!choices.empty() && std::find(choices.begin(), choices.end(), *text) == choices.end()) {
        refuse(fmt::format("\"{}\"", fmt::join(choices, "\" | \"")));
      }
      return scalar;
    }
    case ParameterType::integer: {
      const auto* integer = std::get_if<std::int64_t>(&scalar);
      if (integer == nullptr) {
        const auto* word = std::get_if<std::string>(&scalar);
        const bool known =
            word != nullptr && std::find(choices.begin(), choices.end(), *word) != choices.end();
        if (known) return scalar;
        refuse(choices.empty()
                   ? "an integer"
                   : fmt::format("an integer or \"{}\"", fmt::join(choices, "\" | \"")));
      }
      if (!range.contains(static_cast<double>(*integer))) refuse(range.describe(name()));
      return scalar;
    }
    case ParameterType::real: {
      double number = 0;
      if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
        number = static_cast<double>(*integer);
        constexpr std::int64_t kExact = std::int64_t{1} << 53;
        if (*integer < -kExact || *integer > kExact)
          refuse(fmt::format("at most 2^53 = {}, or {}.0, a number that is rounded to {:.17g}",
                             kExact,
                             *integer,
                             number));
      } else if (const auto* real = std::get_if<double>(&scalar)) {
        number = *real;
      } else {
        refuse("a number");
      }
      if (!std::isfinite(number)) refuse("a finite number");
      if (!range.contains(number)) refuse(range.describe(name()));
      return number;
    }
  }
  throw std::logic_error("Parameter::checked: unknown type");
}

Configuration::Configuration(std::string study, const std::vector<Parameter>& parameters)
    : study_(std::move(study)) {
  for (const Parameter& p : parameters) entries_.push_back({p.key, p.fallback});
}

const Configuration::Entry& Configuration::find(std::string_view key) const {
  const auto entry =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (entry == entries_.end()) {
    throw std::logic_error(fmt::format("study '{}' has no parameter '{}'", study_, key));
  }
  return *entry;
}

bool Configuration::declares(std::string_view key) const {
  return std::any_of(
      entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
}

bool Configuration::has(std::string_view key) const { return find(key).value.has_value(); }

const Value& Configuration::at(std::string_view key) const {
  const Entry& entry = find(key);
  if (!entry.value) throw invalid_parameter(key, "(unset)", "a value");
  return *entry.value;
}

std::filesystem::path Configuration::input_file(std::string_view key) const {
  const std::filesystem::path path = array_address(text(key)).file;
  std::vector<std::string> tried;
  std::vector<std::filesystem::path> candidates{path};
  if (path.is_relative()) {
    candidates.clear();
    for (const auto& directory : input_directories) candidates.push_back(directory / path);
  }
  for (const auto& candidate : candidates) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
    if (std::find(tried.begin(), tried.end(), candidate.string()) == tried.end())
      tried.push_back(candidate.string());
  }
  throw invalid_parameter(
      key,
      path.string(),
      fmt::format("an existing file, no folder or device; looked for {}", fmt::join(tried, ", ")));
}

std::string Configuration::input_text(std::string_view key) const {
  const std::filesystem::path path = input_file(key);
  const std::shared_ptr<const std::string> bytes =
      inputs ? inputs->bytes(path) : InputFiles().bytes(path);
  if (!bytes || bytes->empty()) {
    throw invalid_parameter(key, path.string(), "a readable file that is not empty");
  }
  return *bytes;
}

Table Configuration::entries() const {
  Table set;
  for (const Entry& e : entries_) {
    if (e.value) set.emplace_back(e.key, *e.value);
  }
  return set;
}

double Configuration::real(std::string_view key) const { return std::get<double>(at(key)); }
std::int64_t Configuration::integer(std::string_view key) const {
  return std::get<std::int64_t>(at(key));
}
bool Configuration::flag(std::string_view key) const { return std::get<bool>(at(key)); }
const std::string& Configuration::text(std::string_view key) const {
  return std::get<std::string>(at(key));
}

namespace {
template <class T>
std::vector<T> elements(const Value& value) {
  std::vector<T> result;
  for (const Value& element : std::get<List>(value)) result.push_back(std::get<T>(element));
  return result;
}
}  // namespace

std::vector<double> Configuration::reals(std::string_view key) const {
  return elements<double>(at(key));
}
std::vector<std::vector<double>> Configuration::rows(std::string_view key) const {
  const auto& list = std::get<List>(at(key));
  const bool nested = std::holds_alternative<List>(list.front());
  if (!nested) return {elements<double>(at(key))};
  std::vector<std::vector<double>> rows;
  for (const Value& row : list) {
    if (!std::holds_alternative<List>(row)) {
      throw invalid_parameter(key, shown(row), "a row of numbers, as the first element is");
    }
    rows.push_back(elements<double>(row));
  }
  return rows;
}
std::vector<std::int64_t> Configuration::integers(std::string_view key) const {
  return elements<std::int64_t>(at(key));
}
std::vector<std::string> Configuration::texts(std::string_view key) const {
  return elements<std::string>(at(key));
}

bool Configuration::given(std::string_view key) const {
  return std::find(given_.begin(), given_.end(), key) != given_.end();
}

void Configuration::set(std::string_view key, Value value, bool by_user) {
  const_cast<Entry&>(find(key)).value = std::move(value);
  if (by_user && !given(key)) given_.emplace_back(key);
}

}  // namespace attica
