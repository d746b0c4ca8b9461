#include "attica/sim/language/windows.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// log of a probability that single precision may have rounded to 0.
double safe_log(double p) {
  constexpr double kTiny = 1e-300;
  return std::log(std::max(p, kTiny));
}

/// How often each tuple stands at the pattern; a tuple's number is in base C.
std::unordered_map<std::uint64_t, double> tuple_frequencies(const Windows& windows,
                                                            Index symbols,
                                                            const std::vector<Index>& pattern) {
  std::unordered_map<std::uint64_t, double> frequencies;
  const Index places = windows.cols() - pattern.back();
  const double each = 1 / static_cast<double>(windows.rows() * places);
  for (Index k = 0; k < windows.rows(); ++k) {
    for (Index first = 0; first < places; ++first) {
      std::uint64_t tuple = 0;
      for (const Index j : pattern) {
        tuple = tuple * static_cast<std::uint64_t>(symbols) + windows(k, first + j);
      }
      frequencies[tuple] += each;
    }
  }
  return frequencies;
}

}  // namespace

WindowSource text_source(const std::vector<Symbol>& sequence, Index sites) {
  return [&sequence, sites](Index count, RandomStream& stream) {
    Windows windows(count, sites);
    const auto places = sequence.size() - static_cast<std::size_t>(sites) + 1;
    for (Index k = 0; k < count; ++k) {
      const std::uint64_t first = stream.below(places);
      for (Index j = 0; j < sites; ++j) {
        windows(k, j) = sequence[first + static_cast<std::uint64_t>(j)];
      }
    }
    return windows;
  };
}

WindowSource chain_source(const MarkovClone& chain, Index sites) {
  return [chain, sites](Index count, RandomStream& stream) {
    Windows windows(count, sites);
    const Index symbols = chain.symbols();
    for (Index k = 0; k < count; ++k) {
      for (Index j = 0; j < sites; ++j) {
        const double* p = chain.next(windows.row(k).data(), j);
        double left = stream.uniform();
        Index a = 0;
        while (a + 1 < symbols && left >= p[a]) left -= p[a++];
        windows(k, j) = static_cast<Symbol>(a);
      }
    }
    return windows;
  };
}

MaskedWindows hide_one(Windows windows, RandomStream& stream) {
  MaskedWindows masked{.windows = std::move(windows), .hidden = {}};
  const auto sites = static_cast<std::uint64_t>(masked.windows.cols());
  for (Index k = 0; k < masked.windows.rows(); ++k) {
    masked.hidden.push_back(static_cast<std::int32_t>(stream.below(sites)));
  }
  return masked;
}

Laws chain_laws(const MarkovClone& chain, const MaskedWindows& masked) {
  Laws laws(masked.count(), chain.symbols());
  for (Index k = 0; k < masked.count(); ++k) {
    chain.conditional(masked.windows.row(k).data(),
                      masked.windows.cols(),
                      masked.hidden[static_cast<std::size_t>(k)],
                      laws.row(k).data());
  }
  return laws;
}

double mean_loss(const Laws& q, const MaskedWindows& masked) {
  double total = 0;
  for (Index k = 0; k < masked.count(); ++k) {
    total -= safe_log(q(k, masked.windows(k, masked.hidden[static_cast<std::size_t>(k)])));
  }
  return total / static_cast<double>(masked.count());
}

double mean_cross_entropy(const Laws& p, const Laws& q) {
  double total = 0;
  for (Index k = 0; k < p.size(); ++k) total -= p.data()[k] * safe_log(q.data()[k]);
  return total / static_cast<double>(p.rows());
}

double mean_entropy(const Laws& p) { return mean_cross_entropy(p, p); }

double pattern_variation(const Windows& a,
                         const Windows& b,
                         Index symbols,
                         const std::vector<Index>& pattern) {
  require(!pattern.empty() && pattern.front() == 0 && pattern.back() < a.cols() &&
              a.cols() == b.cols() && std::is_sorted(pattern.begin(), pattern.end()),
          "pattern",
          static_cast<double>(pattern.size()),
          "ascending sites of the windows, the first 0");
  auto f = tuple_frequencies(a, symbols, pattern);
  for (const auto& [tuple, frequency] : tuple_frequencies(b, symbols, pattern)) {
    f[tuple] -= frequency;
  }
  // Sorted: the order of a hash table is not the same everywhere, and sums depend on it.
  std::vector<double> differences;
  for (const auto& entry : f) differences.push_back(std::abs(entry.second));
  std::sort(differences.begin(), differences.end());
  double total = 0;
  for (const double d : differences) total += d;
  return total / 2;
}

}  // namespace attica
