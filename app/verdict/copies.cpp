#include "attica/app/verdict/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>

namespace attica::app {
namespace {

constexpr std::size_t kFewestCopies = 2;
constexpr std::size_t kFewestDifferent = 4;
constexpr double kByChance = 0.01;

/// One step of a hash of a replicate's values and places.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  constexpr int kTurn = 29;
  return std::rotl((hash ^ word) * kOdd, kTurn) * kOdd;
}

double pairs_of(std::size_t n) {
  return 0.5 * static_cast<double>(n) * (static_cast<double>(n) - 1);
}

/// Share of the pairs of these values that are equal.
double equal_share(std::vector<double>& values) {
  std::ranges::sort(values);
  double equal = 0;
  for (auto first = values.begin(); first != values.end();) {
    const auto end = std::upper_bound(first, values.end(), *first);
    equal += pairs_of(static_cast<std::size_t>(end - first));
    first = end;
  }
  return equal / pairs_of(values.size());
}

/// How many places a lattice has from the least to the largest of these different, sorted values,
/// on which they all lie.
double lattice_places(const std::vector<double>& values) {
  const double range = values.back() - values.front();
  const double rounding = 1e-9 * range;  // of differences; a finer lattice counts as none
  double spacing = 0;
  for (std::size_t k = 1; k < values.size(); ++k) {
    double other = values[k] - values[k - 1];
    while (other > rounding) {  // Euclid
      const double rest = std::abs(std::remainder(spacing, other));
      spacing = other;
      other = rest;
    }
  }
  return range / spacing + 1;
}

/// Copies at one place: of values of few kinds there are none.
std::optional<Copies> copied_values(std::vector<double> values) {
  constexpr std::size_t kFewestRepeated = 3;
  constexpr double kTimesChance = 30;
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  std::ranges::sort(values);
  std::vector<double> different;
  std::size_t repeated = 0;
  double equal = 0;
  for (auto first = values.begin(); first != values.end();) {
    const auto end = std::upper_bound(first, values.end(), *first);
    const auto n = static_cast<std::size_t>(end - first);
    different.push_back(*first);
    repeated += n > 1 ? 1 : 0;
    equal += pairs_of(n);
    first = end;
  }
  if (different.size() < kFewestDifferent || repeated < kFewestRepeated) return std::nullopt;
  if (equal < kTimesChance * pairs_of(values.size()) / lattice_places(different))
    return std::nullopt;
  return Copies{.copies = values.size() - different.size(), .replicates = values.size()};
}

/// The place with the largest share of copies.
std::optional<Copies> copies_at_a_place(const std::vector<ObservedCurve>& simulation) {
  std::optional<Copies> most;
  const auto share = [](const Copies& c) {
    return static_cast<double>(c.copies) / static_cast<double>(c.replicates);
  };
  for (const ObservedCurve& curve : simulation) {
    const Series& s = curve.mean;
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      std::optional<Copies> found = copied_values(curve.values[k]);
      if (!found || (most && share(*found) <= share(*most))) continue;
      most = found;
      const Point place = s.x_name == "none" ? s.point : joined(s.point, {{s.x_name, s.x[k]}});
      most->place = s.name + (place.empty() ? "" : " at " + attica::describe(place));
    }
  }
  return most;
}

/// Copies at every place.
std::optional<Copies> whole_copies(const std::vector<ObservedCurve>& simulation) {
  std::map<std::uint64_t, std::uint64_t> hashes;  // by the replicate's number
  std::set<std::uint64_t> failed;
  std::uint64_t place = 0;
  for (const ObservedCurve& curve : simulation) {
    for (std::size_t k = 0; k < curve.values.size(); ++k, ++place) {
      for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
        const std::uint64_t number = curve.replicates[k][r];
        const double value = curve.values[k][r];
        std::uint64_t& hash = hashes[number];
        hash = mixed(mixed(hash, place + 1), std::bit_cast<std::uint64_t>(value));
        if (!std::isfinite(value)) failed.insert(number);
      }
    }
  }
  for (const std::uint64_t number : failed) hashes.erase(number);
  std::unordered_map<std::uint64_t, std::uint64_t> first;  // number of the first with that hash
  for (const auto& [number, hash] : hashes) first.try_emplace(hash, number);
  const std::size_t different = first.size();
  const Copies found{.copies = hashes.size() - different, .replicates = hashes.size()};
  if (found.copies < kFewestCopies || different < kFewestDifferent) return std::nullopt;

  std::set<std::uint64_t> kept;
  for (const auto& [hash, number] : first) kept.insert(number);
  const double pairs = pairs_of(different);
  double log_chance = std::log(pairs_of(found.replicates));
  bool continuous = false;
  for (const ObservedCurve& curve : simulation) {
    for (std::size_t k = 0; k < curve.values.size(); ++k) {
      std::vector<double> values;
      for (std::size_t r = 0; r < curve.values[k].size(); ++r) {
        if (kept.contains(curve.replicates[k][r])) values.push_back(curve.values[k][r]);
      }
      if (values.size() < different) continue;  // some have no value there
      const double equal = equal_share(values);
      continuous = continuous || equal == 0;
      log_chance += std::log(std::max(equal, 1 / pairs));
    }
  }
  if (!continuous || log_chance > std::log(kByChance)) return std::nullopt;
  return found;
}

}  // namespace

std::optional<Copies> copied_replicates(const std::vector<ObservedCurve>& simulation) {
  const std::optional<Copies> whole = whole_copies(simulation);
  return whole ? whole : copies_at_a_place(simulation);
}

std::string copies_text(const Copies& found) {
  return found.place.empty()
             ? fmt::format(
                   "{} of {} replicates equal another one at every point, to the last "
                   "digit: are seeds used twice, or rows?",
                   found.copies,
                   found.replicates)
             : fmt::format(
                   "{} of {} replicates of {} equal another one there, to the last digit: "
                   "are seeds used twice, or rows, or has it few values?",
                   found.copies,
                   found.replicates,
                   found.place);
}

}  // namespace attica::app
