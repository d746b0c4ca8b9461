#include "attica/app/run/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

#include "attica/sources/study.hpp"
#include "attica/studies/at_point.hpp"

namespace attica::app {
namespace {

std::optional<double> number_in(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::nullopt;
}

/// The numbers of a scalar, a list or a list of lists.
std::vector<double> numbers_in(const Value& value) {
  std::vector<double> all;
  if (const auto* list = std::get_if<List>(&value)) {
    for (const Value& element : *list) {
      const std::vector<double> some = numbers_in(element);
      all.insert(all.end(), some.begin(), some.end());
    }
  } else if (const auto one = number_in(value)) {
    all.push_back(*one);
  }
  return all;
}

/// In powers of ten; a change of sign, and 0 beside another number, are many.
double far_apart(double a, double b) {
  constexpr double kLeast = 1e-300;
  constexpr double kSign = 20;
  if (a == b) return 0;
  if (a == 0 || b == 0 || (a < 0) != (b < 0)) return kSign;
  return std::abs(std::log10(std::max(std::abs(a), kLeast)) -
                  std::log10(std::max(std::abs(b), kLeast))) +
         1e-3;  // of neighbours too
}

std::string some_numbers(const std::vector<double>& numbers) {
  constexpr std::size_t kMost = 4;
  if (numbers.size() <= kMost) return fmt::format("{}", fmt::join(numbers, ", "));
  return fmt::format("{}, ..., {}", numbers.front(), numbers.back());
}

std::optional<double> coordinate_named(const Point& point, const std::string& name) {
  for (const auto& [key, value] : point) {
    const auto* number = std::get_if<double>(&value);
    if (key == name && number != nullptr) return *number;
  }
  return std::nullopt;
}

/// The key of the study's parameter that an error means, one that was written down before others;
/// empty: it means none.
std::string parameter_of(const Error& error, const CheckedConfiguration& configuration) {
  const std::string name = error.parameter().substr(0, error.parameter().find('['));
  const std::vector<Parameter> parameters = all_parameters(*configuration.study);
  std::string known;
  for (const char* section :
       {"", "model.", "sim.", "sweep.", "theory.", "simulation.", "check.", "plot."}) {
    const std::string key = section + name;
    if (configuration.locations.contains(key)) return key;
    const bool declared = std::any_of(
        parameters.begin(), parameters.end(), [&](const auto& p) { return p.key == key; });
    if (declared && known.empty()) known = key;
  }
  return known;
}

Error located(const Error& error,
              const CheckedConfiguration& configuration,
              const std::string& key) {
  const auto place = configuration.locations.find(key);
  if (place == configuration.locations.end()) return error;
  return {
      error.kind(), fmt::format("{}: error: {}", place->second, error.what()), error.parameter()};
}

/// The refusal of a problem that memory does not hold: by the size that is farthest above its
/// default.
Error too_large(const CheckedConfiguration& configuration, const Configuration& values) {
  std::string key;
  double size = 0;
  double largest = 1;
  for (const Parameter& p : all_parameters(*configuration.study)) {
    if (p.type != ParameterType::integer || !p.fallback || !values.has(p.key)) continue;
    const std::vector<double> usual = numbers_in(*p.fallback);
    const std::vector<double> now = numbers_in(values.at(p.key));
    if (usual.empty() || now.empty() || p.key == "sim.seed") continue;
    const double most = *std::max_element(now.begin(), now.end());
    const double times = most / std::max(1.0, *std::max_element(usual.begin(), usual.end()));
    if (times <= largest) continue;
    largest = times;
    size = most;
    key = p.key;
  }
  if (key.empty()) return {ErrorKind::input, "out of memory: the problem is too large"};
  return invalid_parameter(
      key, fmt::format("{:.0f}", size), "a problem that fits into the memory of this machine");
}

/// "; change model.beta = 50 (default 1) first"
std::string change_first(const FarSetting& setting) {
  return setting.key.empty() ? std::string() : fmt::format("; change {} first", setting.text);
}

/// A place as theory.json lists it: {"series": ..., coordinates, x}.
Point point_in(const Json& place) {
  Point point;
  for (const auto& [name, value] : place.items()) {
    if (name == "series") continue;
    if (value.is_number()) point.emplace_back(name, value.get<double>());
    if (value.is_string()) point.emplace_back(name, value.get<std::string>());
  }
  return point;
}

std::string and_more(std::size_t count) {
  return count > 1 ? fmt::format(", and {} more", count - 1) : std::string();
}

}  // namespace

FarSetting farthest_setting(const CheckedConfiguration& configuration, const Point& point) {
  FarSetting farthest;
  if (configuration.study->defined_by) return farthest;  // its numbers are the user's
  double distance = 0;
  for (const Parameter& p : all_parameters(*configuration.study)) {
    const std::string section = p.section();
    const bool computes =
        section == "model" || section == "sweep" || section == "theory" || section == "sim";
    if (!computes || p.key == "sim.seed" || p.key == "sim.replicates") continue;
    const bool swept = configuration.is_swept(p.key);
    if (!swept && (!configuration.values.has(p.key) || !configuration.values.given(p.key)))
      continue;
    const std::vector<double> usual = p.fallback ? numbers_in(*p.fallback) : std::vector<double>();
    std::vector<double> now;
    if (const auto there = coordinate_named(point, p.name())) {
      now = {*there};
    } else if (!swept) {
      now = numbers_in(configuration.values.at(p.key));
    }
    double away = 0;
    for (const double value : now) {
      // Nothing is known of what has no default: it counts as a little off.
      double nearest = usual.empty() ? 1e-2 : far_apart(value, usual.front());
      for (const double other : usual) nearest = std::min(nearest, far_apart(value, other));
      away = std::max(away, nearest);
    }
    if (away <= distance) continue;
    distance = away;
    farthest = {.key = p.key,
                .text = fmt::format(
                    "{} = {}{}",
                    p.key,
                    some_numbers(now),
                    usual.empty() ? "" : fmt::format(" (default {})", some_numbers(usual)))};
  }
  if (!farthest.key.empty()) return farthest;
  // All at their defaults: a value of a list that the point has.
  for (const Parameter& p : all_parameters(*configuration.study)) {
    const auto there = coordinate_named(point, p.name());
    if (there && p.section() == "sweep")
      return {.key = p.key, .text = fmt::format("{} = {}", p.key, *there)};
  }
  return farthest;
}

Error explained(const Error& error,
                const CheckedConfiguration& configuration,
                const Point& point,
                const std::string& place) {
  if (const std::string key = parameter_of(error, configuration); !key.empty())
    return located(error, configuration, key);
  const bool refused_without_name =
      error.kind() == ErrorKind::input &&
      (error.parameter().empty() || error.parameter().starts_with("--"));
  if (error.kind() == ErrorKind::storage || refused_without_name ||
      configuration.study->defined_by) {
    return error;
  }
  std::string text = error.what();
  // Not a parameter of the user's: a quantity that follows from them.
  const std::string internal = fmt::format("parameter '{}'", error.parameter());
  if (const auto at = text.find(internal); !error.parameter().empty() && at != std::string::npos)
    text.replace(at, internal.size(), error.parameter());
  // A place that the study says stands for the vaguer one.
  std::string here = place;
  if (const auto at = text.rfind(kAtPoint); at != std::string::npos && text.ends_with(')')) {
    here = text.substr(at + std::string_view(kAtPoint).size());
    here.pop_back();
    text.erase(at);
  }
  std::string where = describe(point);
  if (!here.empty()) where += (where.empty() ? "" : ", ") + here;
  if (!where.empty()) text += fmt::format(" (at {})", where);
  const FarSetting setting = farthest_setting(configuration, point);
  return located(
      {error.kind(), text + change_first(setting), setting.key}, configuration, setting.key);
}

void rethrow_explained(const std::exception_ptr& error,
                       const CheckedConfiguration& configuration,
                       const Configuration& values,
                       const Point& point,
                       const std::string& place) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    throw explained(known, configuration, point, place);
  } catch (const std::bad_alloc&) {
    const Error refusal = too_large(configuration, values);
    throw located(refusal, configuration, refusal.parameter());
  } catch (const std::length_error&) {  // more elements than a vector can ever have
    const Error refusal = too_large(configuration, values);
    throw located(refusal, configuration, refusal.parameter());
  }
}

void require_finite(const PartRecord& part,
                    const CheckedConfiguration& configuration,
                    const Point& coordinates) {
  for (std::size_t r = 0; r < part.outcomes.size(); ++r) {
    if (may_miss(part.outcomes[r])) continue;
    for (const Series& series : part.outcomes[r].series) {
      const auto bad = std::find_if(
          series.y.begin(), series.y.end(), [](double y) { return !std::isfinite(y); });
      if (bad == series.y.end()) continue;
      Point point = joined(coordinates, series.point);
      const auto k = static_cast<std::size_t>(bad - series.y.begin());
      if (series.x_name != "none" && k < series.x.size())
        point.emplace_back(series.x_name, series.x[k]);
      throw explained(Error(ErrorKind::numerical,
                            fmt::format("series '{}': an observation is not finite", series.name)),
                      configuration,
                      point,
                      fmt::format("replicate {}", part.first_replicate + r));
    }
  }
}

std::string failed_theory_text(const CheckedConfiguration& configuration, const Json& failed) {
  if (!failed.is_array() || failed.empty()) return {};
  const Point point = point_in(failed.front());
  return fmt::format("the theory of {} is not a number at {}{}{}",
                     failed.front().value("series", ""),
                     describe(point),
                     and_more(failed.size()),
                     change_first(farthest_setting(configuration, point)));
}

std::string diverged_theory_text(const Json& diverged) {
  if (!diverged.is_array() || diverged.empty()) return {};
  return fmt::format("the theory of {} is infinite at {}{}: not printed",
                     diverged.front().value("series", ""),
                     describe(point_in(diverged.front())),
                     and_more(diverged.size()));
}

std::string failure_text(const CheckedConfiguration& configuration, const CheckRecord& record) {
  if (!record.failed) return {};
  const Json& facts = record.diagnostics;
  if (const auto failed = facts.find("failed"); failed != facts.end())
    return failed_theory_text(configuration, *failed);
  if (const auto failures = facts.find("failures");
      failures != facts.end() && failures->is_array() && !failures->empty()) {
    // Advice of its own, as "lower sim.eta", may not meet what was set too far.
    const FarSetting setting = farthest_setting(configuration, {});
    const std::string first = failures->front().get<std::string>();
    const bool named = !setting.key.empty() && first.find(setting.key) != std::string::npos;
    return fmt::format(
        "{}{}{}", first, and_more(failures->size()), named ? "" : change_first(setting));
  }
  const auto first_of = [&](const std::vector<Place>& places, const RunVerdict& run) {
    std::string text;
    for (std::size_t k = 0; k < places.size() && text.empty(); ++k) {
      if (run.points[k].status != PointStatus::failed) continue;
      const Point point = joined(places[k].point, {{places[k].x_name, places[k].x}});
      text = fmt::format("{} is not a number at {}{}{}",
                         places[k].series,
                         describe(point),
                         and_more(run.failed),
                         change_first(farthest_setting(configuration, point)));
    }
    return text;
  };
  std::string text = first_of(record.places, record.points);
  for (const Control& control : record.controls) {
    if (text.empty()) text = first_of(control.places, control.points);
  }
  if (!text.empty()) return text;
  return fmt::format("runs diverged at every point before there was anything to compare{}",
                     change_first(farthest_setting(configuration, {})));
}

}  // namespace attica::app
