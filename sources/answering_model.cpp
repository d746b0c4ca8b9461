#include "attica/sources/answering_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "attica/core/unique_json.hpp"

namespace attica::sources {

using Eigen::VectorXd;
using Json = nlohmann::json;

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Python's NaN and Infinity, which JSON does not know, as null.
std::string with_nonfinite_null(std::string text) {
  for (const std::string word : {"-Infinity", "Infinity", "NaN"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at))
      text.replace(at, word.size(), "null");
  }
  return text;
}

void append(std::string& line, const VectorXd& all) {
  line += '[';
  for (Eigen::Index k = 0; k < all.size(); ++k)
    fmt::format_to(std::back_inserter(line), "{}{}", k == 0 ? "" : ", ", all[k]);
  line += ']';
}

}  // namespace

struct AnsweringModel::Answer {
  std::string text;
  Json json;

  const Json* part(const char* key) const {
    return json.is_object() && json.contains(key) ? &json[key] : nullptr;
  }
};

AnsweringModel::AnsweringModel(std::string key, const Command& command, const VectorXd& start)
    : key_(std::move(key)),
      name_(command.arguments.front()),
      conversation_(command),
      parameters_(start.size()) {
  const Answer answer = ask(start, nullptr, false);
  const Json* losses = answer.part("losses");
  if (losses == nullptr || !losses->is_array() || losses->empty())
    throw wrong(answer, R"({"losses": [...], "gradient": [...]}, on one line)");
  losses_ = std::ssize(*losses);
  p_ = VectorXd::Constant(losses_, 1 / static_cast<double>(losses_));
}

void AnsweringModel::set_weights(const std::string& key, const VectorXd& p) {
  constexpr double kRounding = 1e-6;
  if (p.size() != losses_) {
    throw invalid_parameter(key,
                            fmt::format("{} numbers", p.size()),
                            fmt::format("{}, one for each loss of '{}'", losses_, name_));
  }
  require(p.minCoeff() > 0 && std::abs(p.sum() - 1) < kRounding,
          key,
          p.sum(),
          "positive probabilities with sum 1");
  p_ = p / p.sum();
}

void AnsweringModel::pass(const VectorXd& theta,
                          VectorXd& losses,
                          const VectorXd* weights,
                          VectorXd* gradient) const {
  const std::lock_guard lock(mutex_);
  if (!theta.allFinite()) {
    losses.setConstant(losses_, kUnknown);
    if (weights != nullptr) gradient->setConstant(parameters_, kUnknown);
    return;
  }
  const Answer answer = ask(theta, weights, false);
  losses = numbers(answer, "losses", losses_);
  if (weights != nullptr) *gradient = numbers(answer, "gradient", parameters_);
}

double AnsweringModel::observable(const VectorXd& theta, const std::string& name) const {
  constexpr std::size_t kMostKept = 1 << 14;
  const std::lock_guard lock(mutex_);
  if (!theta.allFinite()) return kUnknown;
  const std::vector<double> place(theta.begin(), theta.end());
  if (const auto at = kept_.find(place); at != kept_.end()) return at->second.at(name);
  if (kept_.size() >= kMostKept) kept_.clear();
  const Answer answer = ask(theta, nullptr, true);
  const Json* all = answer.part("observables");
  std::map<std::string, double> found;
  for (const std::string& one : observables_) {
    if (all == nullptr || !all->is_object() || !all->contains(one) || !(*all)[one].is_number())
      throw wrong(answer, fmt::format("a number '{}' in \"observables\"", one));
    found[one] = (*all)[one].get<double>();
  }
  return (kept_[place] = std::move(found)).at(name);
}

AnsweringModel::Answer AnsweringModel::ask(const VectorXd& theta,
                                           const VectorXd* weights,
                                           bool observables) const {
  std::string line = "{\"theta\": ";
  append(line, theta);
  line += ", \"weights\": ";
  if (weights == nullptr) {
    line += "null";
  } else {
    append(line, *weights);
  }
  if (observables) line += ", \"observables\": " + Json(observables_).dump();
  line += '}';
  ++passes_;
  Answer answer{conversation_.answer(line, which()), {}};
  std::string twice;
  answer.json = parse_unique_json<Json>(with_nonfinite_null(answer.text), twice);
  if (!twice.empty()) throw wrong(answer, fmt::format("\"{}\" once", twice));
  return answer;
}

VectorXd AnsweringModel::numbers(const Answer& answer, const char* key, Eigen::Index size) const {
  const Json* all = answer.part(key);
  if (all == nullptr || !all->is_array() || std::ssize(*all) != size) {
    throw wrong(answer,
                fmt::format("{} numbers in \"{}\", not {}",
                            size,
                            key,
                            all == nullptr    ? "nothing"
                            : all->is_array() ? fmt::format("{}", all->size())
                                              : all->dump()));
  }
  VectorXd found(size);
  Eigen::Index k = 0;
  for (const Json& one : *all) {
    if (!one.is_number() && !one.is_null())
      throw wrong(answer, fmt::format("numbers in \"{}\", not {}", key, one.dump()));
    found[k++] = one.is_null() ? kUnknown : one.get<double>();
  }
  return found;
}

std::string AnsweringModel::which() const { return fmt::format("pass {}", passes_); }

Error AnsweringModel::wrong(const Answer& answer, const std::string& expected) const {
  constexpr std::size_t kShown = 80;
  std::string text = answer.text;
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  return {ErrorKind::input,
          fmt::format(
              "{}: '{}' answered {} with '{}'; expected {}", key_, name_, which(), text, expected),
          key_};
}

}  // namespace attica::sources
