#include "attica/app/run/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>

#include "attica/app/run/files.hpp"
#include "attica/app/run/json.hpp"
#include "attica/core/error.hpp"
#include "attica/core/numeric_csv.hpp"
#include "attica/core/parallel.hpp"
#include "attica/solvers/statistics/replicates.hpp"

namespace attica::app {
namespace {

constexpr std::string_view kPartMagic = "attica-part 1 ";

/// JSON has no NaN: values that a replicate does not have are null.
Json values_to_json(const std::vector<double>& values, bool may_fail, const std::string& name) {
  Json array = Json::array();
  for (const double v : values) {
    if (std::isfinite(v)) {
      array.push_back(v);
    } else if (may_fail) {
      array.push_back(nullptr);
    } else {
      throw Error(ErrorKind::numerical, fmt::format("series '{}': a non-finite observation", name));
    }
  }
  return array;
}

std::string curve_key(const std::string& name, const Point& point, const std::string& x_name) {
  return name + '\x1f' + describe(point) + '\x1f' + x_name;
}

std::vector<std::string> point_columns(std::span<const Prediction> theory,
                                       const Replicates* simulation) {
  std::vector<std::string> columns;
  const auto add = [&](const Point& point) {
    for (const auto& [name, value] : point) {
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  };
  for (const Prediction& p : theory) add(p.series.point);
  if (simulation != nullptr) {
    for (const ObservedCurve& c : simulation->curves()) add(c.mean.point);
  }
  return columns;
}

/// ",v1,v2,...," for the point columns, empty fields where the point lacks a coordinate.
std::string point_fields(const Point& point, const std::vector<std::string>& columns) {
  std::string fields;
  for (const std::string& column : columns) {
    const auto at =
        std::find_if(point.begin(), point.end(), [&](const auto& c) { return c.first == column; });
    if (at != point.end()) fields += csv_field(describe(at->second));
    fields += ',';
  }
  return fields;
}

/// Columns that every table has, of one kind or the other.
constexpr std::array<std::string_view, 11> kFixed = {
    "study", "series", "kind", "x_name", "x", "replicate", "value", "mean", "sem", "sd", "n"};
constexpr std::string_view kOfPoint = "point_";

bool is_fixed(std::string_view name) {
  while (name.starts_with(kOfPoint)) name.remove_prefix(kOfPoint.size());
  return std::find(kFixed.begin(), kFixed.end(), name) != kFixed.end();
}

/// The column of a coordinate: its name, unless a table has a column of that name besides, or the
/// inverse would not find it again.
std::string column_of(const std::string& coordinate) {
  return is_fixed(coordinate) ? std::string(kOfPoint) + coordinate : coordinate;
}

/// The inverse of column_of.
std::string coordinate_of(const std::string& column) {
  const bool renamed = column.starts_with(kOfPoint) && is_fixed(column);
  return renamed ? column.substr(kOfPoint.size()) : column;
}

std::string joined_columns(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) text += csv_field(column_of(column)) + ",";
  return text;
}

/// Fields of the CSV record that starts at `position`, which moves past it; quoted fields may hold
/// anything.
std::vector<std::string> read_record(const std::string& text, std::size_t& position) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  while (position < text.size()) {
    const char c = text[position++];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (position < text.size() && text[position] == '"') {
        fields.back() += text[position++];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c == '\r' && position < text.size() && text[position] == '\n') {
      continue;  // the table came through a system that ends lines so
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

bool parse_number(const std::string& text, double& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool may_miss(const Outcome& outcome) {
  return outcome.failed || (outcome.status != "finished" && outcome.status != "converged");
}

std::string encode(const PartRecord& part) {
  std::string body = Json{{"first_replicate", part.first_replicate},
                          {"replicates", part.outcomes.size()},
                          {"seconds", part.seconds}}
                         .dump() +
                     "\n";
  for (const Outcome& outcome : part.outcomes) {
    Json series = Json::array();
    for (const Series& s : outcome.series) {
      series.push_back({{"name", s.name},
                        {"point", to_json(s.point)},
                        {"x_name", s.x_name},
                        {"x", s.x},
                        {"y", values_to_json(s.y, may_miss(outcome), s.name)}});
    }
    Json line{{"status", outcome.status}, {"series", std::move(series)}};
    if (outcome.failed) line["failed"] = true;
    if (!outcome.message.empty()) line["message"] = outcome.message;
    body += line.dump() + "\n";
  }
  return fmt::format("{}{}\n{}", kPartMagic, sha256(body), body);
}

PartRecord decode(std::string_view content) {
  const Error damaged(ErrorKind::storage, "damaged part file");
  const auto end_of_line = content.find('\n');
  if (!content.starts_with(kPartMagic) || end_of_line == std::string_view::npos) throw damaged;
  const std::string_view digest =
      content.substr(kPartMagic.size(), end_of_line - kPartMagic.size());
  content.remove_prefix(end_of_line + 1);
  if (sha256(content) != digest) throw damaged;
  PartRecord part;
  bool header = true;
  while (!content.empty()) {
    const auto stop = content.find('\n');
    const Json line = Json::parse(content.substr(0, stop));
    content.remove_prefix(stop + 1);
    if (header) {
      part.first_replicate = line.at("first_replicate");
      part.seconds = line.at("seconds");
      header = false;
      continue;
    }
    Outcome outcome{.series = {},
                    .status = line.at("status"),
                    .failed = line.value("failed", false),
                    .message = line.value("message", "")};
    for (const Json& s : line.at("series")) {
      Series series{.name = s.at("name"),
                    .point = point_from(s.at("point")),
                    .x_name = s.at("x_name"),
                    .x = s.at("x"),
                    .y = {}};
      for (const Json& y : s.at("y")) {
        series.y.push_back(y.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                       : y.get<double>());
      }
      outcome.series.push_back(std::move(series));
    }
    part.outcomes.push_back(std::move(outcome));
  }
  return part;
}

std::size_t Replicates::place_of(const Series& series, const Point& point) {
  const auto [at, fresh] =
      index_.try_emplace(curve_key(series.name, point, series.x_name), curves_.size());
  if (fresh) {
    curves_.push_back(
        {.mean = {.name = series.name, .point = point, .x_name = series.x_name, .x = {}, .y = {}},
         .values = {},
         .replicates = {}});
    places_.emplace_back();
  }
  return at->second;
}

std::size_t Replicates::place_of_x(std::size_t curve, double x) {
  ObservedCurve& c = curves_[curve];
  const auto [at, fresh] = places_[curve].try_emplace(x, c.mean.x.size());
  if (fresh) {
    c.mean.x.push_back(x);
    c.values.emplace_back();
    c.replicates.emplace_back();
  }
  return at->second;
}

void Replicates::add(const PartRecord& part, const Point& coordinates, const std::string& place) {
  // Where the series of the replicate before were: those of the next are the same, as a rule.
  struct Known {
    std::size_t curve;
    std::size_t first;  // of its x
  };
  std::vector<Known> places;
  const auto is_there = [&](const ObservedCurve& c, const Series& series) {
    const Point& whole = c.mean.point;
    return c.mean.name == series.name && c.mean.x_name == series.x_name &&
           whole.size() == coordinates.size() + series.point.size() &&
           std::equal(coordinates.begin(), coordinates.end(), whole.begin()) &&
           std::equal(series.point.rbegin(), series.point.rend(), whole.rbegin());
  };
  for (std::size_t r = 0; r < part.outcomes.size(); ++r) {
    const Outcome& outcome = part.outcomes[r];
    const std::uint64_t replicate = part.first_replicate + r;
    ++statuses_[outcome.status];
    if (outcome.failed) {
      const Point point =
          joined(coordinates, outcome.series.empty() ? Point() : outcome.series.front().point);
      const std::string where = point.empty() ? place : describe(point);
      failures_.push_back(fmt::format(
          "replicate {}{}{}: {}", replicate, where.empty() ? "" : " at ", where, outcome.message));
    }
    for (std::size_t s = 0; s < outcome.series.size(); ++s) {
      const Series& series = outcome.series[s];
      if (s == places.size() || !is_there(curves_[places[s].curve], series)) {
        places.resize(s);
        places.push_back({place_of(series, joined(coordinates, series.point)), 0});
      }
      ObservedCurve& c = curves_[places[s].curve];
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        std::size_t at = places[s].first + k;
        if (at >= c.mean.x.size() || c.mean.x[at] != series.x[k])
          at = place_of_x(places[s].curve, series.x[k]);
        if (k == 0) places[s].first = at;
        c.values[at].push_back(series.y[k]);
        c.replicates[at].push_back(replicate);
      }
    }
  }
}

void Replicates::finish() {
  in_parallel(curves_.size(), [&](std::size_t number) {
    ObservedCurve& c = curves_[number];
    std::vector<std::size_t> order(c.mean.x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(
        order.begin(), order.end(), [&](auto a, auto b) { return c.mean.x[a] < c.mean.x[b]; });
    ObservedCurve sorted{.mean = c.mean, .values = {}, .replicates = {}};
    sorted.mean.x.clear();
    sorted.mean.y.clear();
    for (const std::size_t k : order) {
      sorted.mean.x.push_back(c.mean.x[k]);
      sorted.mean.y.push_back(summarise(c.values[k]).mean);
      sorted.values.push_back(std::move(c.values[k]));
      sorted.replicates.push_back(std::move(c.replicates[k]));
    }
    c = std::move(sorted);
  });
}

std::size_t Replicates::values() const {
  std::size_t count = 0;
  for (const ObservedCurve& c : curves_) {
    for (const std::vector<double>& values : c.values) {
      count += static_cast<std::size_t>(
          std::count_if(values.begin(), values.end(), [](double v) { return std::isfinite(v); }));
    }
  }
  return count;
}

std::string replicates_csv(const std::string& study, const Replicates& replicates) {
  const std::vector<std::string> columns = point_columns({}, &replicates);
  std::vector<std::string> tables(replicates.curves().size());
  in_parallel(tables.size(), [&](std::size_t number) {
    const ObservedCurve& c = replicates.curves()[number];
    const std::string head = fmt::format("{},{},{}{},",
                                         csv_field(study),
                                         csv_field(c.mean.name),
                                         point_fields(c.mean.point, columns),
                                         csv_field(c.mean.x_name));
    std::string& rows = tables[number];
    auto out = std::back_inserter(rows);
    for (std::size_t k = 0; k < c.mean.x.size(); ++k) {
      const std::string start = fmt::format("{}{},", head, c.mean.x[k]);
      for (std::size_t r = 0; r < c.values[k].size(); ++r) {
        rows += start;
        fmt::format_to(out, "{},", c.replicates[k][r]);
        if (std::isfinite(c.values[k][r])) fmt::format_to(out, "{}", c.values[k][r]);
        rows += '\n';
      }
    }
  });
  std::string text =
      fmt::format("study,series,{}x_name,x,replicate,value\n", joined_columns(columns));
  std::size_t length = text.size();
  for (const std::string& of_curve : tables) length += of_curve.size();
  text.reserve(length);
  for (const std::string& of_curve : tables) text += of_curve;
  return text;
}

Replicates read_replicates(const std::filesystem::path& path) {
  const std::string text = read_whole(path);
  std::size_t position = 0;
  const std::vector<std::string> header = read_record(text, position);
  constexpr std::size_t kBefore = 2;  // study, series
  constexpr std::size_t kAfter = 4;   // x_name, x, replicate, value
  const auto bad = [&](std::size_t line, const char* what = "") -> Error {
    return {ErrorKind::storage,
            fmt::format("{}:{}: damaged replicates file{}", path.string(), line, what)};
  };
  if (!text.ends_with('\n')) {
    throw bad(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1,
              ": the last line has no end");
  }
  if (header.size() < kBefore + kAfter || header.front() != "study" || header.back() != "value")
    throw bad(1);
  // Doubles hold every integer up to 2^53.
  const auto is_count = [](double n) { return n >= 0 && n <= 0x1p53 && std::floor(n) == n; };
  Replicates result;
  std::set<std::uint64_t> seen;
  for (std::size_t line = 2; position < text.size(); ++line) {
    const std::vector<std::string> fields = read_record(text, position);
    if (fields.size() != header.size()) throw bad(line);
    Series series{
        .name = fields[1], .point = {}, .x_name = fields[fields.size() - kAfter], .x = {}, .y = {}};
    for (std::size_t k = kBefore; k + kAfter < fields.size(); ++k) {
      if (fields[k].empty()) continue;
      double number = 0;
      if (parse_number(fields[k], number)) {
        series.point.emplace_back(coordinate_of(header[k]), number);
      } else {
        series.point.emplace_back(coordinate_of(header[k]), fields[k]);
      }
    }
    double x = 0;
    double replicate = 0;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!parse_number(fields[fields.size() - 3], x) ||
        !parse_number(fields[fields.size() - 2], replicate) || !is_count(replicate) ||
        (!fields.back().empty() && !parse_number(fields.back(), value))) {
      throw bad(line);
    }
    const std::size_t curve = result.place_of(series, series.point);
    ObservedCurve& c = result.curves_[curve];
    if (c.mean.x.empty() || c.mean.x.back() != x) {
      // All replicates of a point stand together.
      const std::size_t before = c.mean.x.size();
      if (result.place_of_x(curve, x) != before) throw bad(line, ": a point that was there before");
    }
    std::vector<std::uint64_t>& numbers = c.replicates.back();
    if (!numbers.empty() && static_cast<std::uint64_t>(replicate) <= numbers.back())
      throw bad(line, ": replicates out of order");
    c.values.back().push_back(value);
    numbers.push_back(static_cast<std::uint64_t>(replicate));
    if (seen.insert(static_cast<std::uint64_t>(replicate)).second) ++result.statuses_["finished"];
  }
  result.finish();
  return result;
}

std::string results_csv(const std::string& study,
                        std::span<const Prediction> theory,
                        const Replicates* simulation) {
  const std::vector<std::string> columns = point_columns(theory, simulation);
  std::string text =
      fmt::format("study,series,kind,{}x_name,x,mean,sem,sd,n\n", joined_columns(columns));
  auto out = std::back_inserter(text);
  const auto head = [&](const Series& s, const char* kind) {
    return fmt::format("{},{},{},{}{},",
                       csv_field(study),
                       csv_field(s.name),
                       kind,
                       point_fields(s.point, columns),
                       csv_field(s.x_name));
  };
  for (const Prediction& p : theory) {
    const std::string start = head(p.series, "theory");
    for (std::size_t k = 0; k < p.series.x.size(); ++k) {
      fmt::format_to(out, "{}{},{},,,\n", start, p.series.x[k], p.series.y[k]);
    }
  }
  if (simulation == nullptr) return text;
  for (const ObservedCurve& c : simulation->curves()) {
    const std::string start = head(c.mean, "sim");
    for (std::size_t k = 0; k < c.mean.x.size(); ++k) {
      const SampleSummary s = summarise(c.values[k]);
      // One replicate has no spread: the fields stay empty rather than claim zero.
      if (s.n == 0) {
        fmt::format_to(out, "{}{},,,,0\n", start, c.mean.x[k]);
      } else if (s.n == 1) {
        fmt::format_to(out, "{}{},{},,,1\n", start, c.mean.x[k], s.mean);
      } else {
        fmt::format_to(out, "{}{},{},{},{},{}\n", start, c.mean.x[k], s.mean, s.sem, s.sd, s.n);
      }
    }
  }
  return text;
}

std::vector<RecordedCurve> recorded_curves(std::span<const Prediction> theory,
                                           const Replicates& simulation) {
  std::vector<RecordedCurve> curves;
  for (const Prediction& p : theory)
    curves.push_back({.theory = true, .mean = p.series, .sem = {}, .sd = {}, .n = {}});
  for (const ObservedCurve& c : simulation.curves()) {
    RecordedCurve curve{.theory = false, .mean = c.mean, .sem = {}, .sd = {}, .n = {}};
    curve.mean.x.clear();
    curve.mean.y.clear();
    for (std::size_t k = 0; k < c.mean.x.size(); ++k) {
      const SampleSummary s = summarise(c.values[k]);
      if (s.n == 0) continue;
      curve.mean.x.push_back(c.mean.x[k]);
      curve.mean.y.push_back(s.mean);
      curve.sem.push_back(s.sem);
      curve.sd.push_back(s.sd);
      curve.n.push_back(s.n);
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace attica::app
