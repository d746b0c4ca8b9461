#include "attica/sim/language/windows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
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

/// Sums p_m(0) + .. + p_m(a) of the conditional laws of a clone, so that a draw is a comparison of
/// a whole row with one number.
class CumulativeLaws {
 public:
  explicit CumulativeLaws(const MarkovClone& chain)
      : symbols_(static_cast<std::size_t>(chain.symbols())),
        stride_(symbols_ < kVector ? symbols_ : (symbols_ + kVector - 1) / kVector * kVector) {
    std::size_t contexts = 1;
    for (int m = 1; m <= chain.order(); ++m, contexts *= symbols_) {
      // Beyond the last symbol but one no uniform number reaches.
      std::vector<double> table(contexts * stride_, 2.0);
      for (std::size_t context = 0; context < contexts; ++context) {
        const double* p = chain.frequencies().row(m, context);
        std::partial_sum(p, p + symbols_ - 1, table.data() + context * stride_);
      }
      tables_.push_back(std::move(table));
    }
  }

  /// The symbol after `before` symbols, whose number in base C is `context`, at a uniform number.
  Symbol at(std::size_t before, std::size_t context, double uniform) const {
    const double* row = tables_[before].data() + context * stride_;
    std::int64_t below = 0;
    for (std::size_t a = 0; a < stride_; ++a) below += row[a] <= uniform ? 1 : 0;
    return static_cast<Symbol>(below);
  }

 private:
  static constexpr std::size_t kVector = 8;
  std::size_t symbols_;
  std::size_t stride_;  ///< of a row: C, rounded up to whole vectors where it fills one
  std::vector<std::vector<double>> tables_;
};

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
  const auto symbols = static_cast<std::size_t>(chain.symbols());
  std::vector<std::size_t> contexts;  // C^m, of m symbols before
  for (std::size_t count = 1; static_cast<int>(contexts.size()) < chain.order(); count *= symbols) {
    contexts.push_back(count);
  }
  const auto laws = std::make_shared<const CumulativeLaws>(chain);
  return [laws, contexts, symbols, sites](Index count, RandomStream& stream) {
    // Several windows side by side: each symbol waits for the one before it, not for its
    // neighbours.
    constexpr Index kTogether = 8;
    Windows windows(count, sites);
    std::vector<double> uniform(static_cast<std::size_t>(kTogether * sites));
    for (Index first = 0; first < count; first += kTogether) {
      const Index some = std::min(kTogether, count - first);
      stream.fill_uniform(std::span(uniform).first(static_cast<std::size_t>(some * sites)));
      std::array<std::size_t, kTogether> tuples{};
      for (Index j = 0; j < sites; ++j) {
        const std::size_t before = std::min(static_cast<std::size_t>(j), contexts.size() - 1);
        const Index oldest = j - static_cast<Index>(before) - 1;
        for (Index k = 0; k < some; ++k) {
          std::size_t& tuple = tuples[static_cast<std::size_t>(k)];
          if (oldest >= 0) tuple -= contexts[before] * windows(first + k, oldest);
          const Symbol next =
              laws->at(before, tuple, uniform[static_cast<std::size_t>(k * sites + j)]);
          windows(first + k, j) = next;
          tuple = tuple * symbols + next;
        }
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

double mean_over_sites(const Windows& windows,
                       const std::function<double(const MaskedWindows&)>& mean) {
  double total = 0;
  for (Eigen::Index i = 0; i < windows.cols(); ++i) {
    total += mean({windows,
                   std::vector<std::int32_t>(static_cast<std::size_t>(windows.rows()),
                                             static_cast<std::int32_t>(i))});
  }
  return total / static_cast<double>(windows.cols());
}

}  // namespace attica
