#pragma once
/// @file
/// @brief A matcher for Catch2 (2 or 3) and GoogleTest: replicates agree with a theory within a
/// margin.
///
///   std::vector<double> replicates = ...;  // one value for each independent repetition
///   REQUIRE_THAT(replicates, attica::Agrees(0.75, {.relative = 0.05}));
///
/// AGREE alone passes. DISAGREE and INCONCLUSIVE fail, the latter with the number of replicates
/// that would decide. The header is of its own: the library needs neither. It is for GoogleTest
/// (ASSERT_THAT, of <gmock/gmock.h>, 1.11 or newer) where that is included before it, and for
/// Catch2 otherwise. Error rates are those of judge().

#ifdef GTEST_TEST
#include <ostream>
#elif __has_include(<catch2/matchers/catch_matchers.hpp>)
#include <catch2/matchers/catch_matchers.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/solvers/statistics/agreement.hpp"

namespace attica {

#ifdef GTEST_TEST
/// What GoogleTest asks of a matcher, by what Catch2 asks of it.
template <typename T>
class TestMatcher {
 public:
  using is_gtest_matcher = void;
  virtual ~TestMatcher() = default;
  virtual bool match(const T& data) const = 0;
  virtual std::string describe() const = 0;

  bool MatchAndExplain(const T& data, std::ostream* explanation) const {
    const bool matched = match(data);
    const std::string found = describe();  // "agree with the theory: DISAGREE, ..."
    if (explanation != nullptr) *explanation << found.substr(found.find(": ") + 2);
    return matched;
  }
  void DescribeTo(std::ostream* text) const { *text << "agrees with the theory"; }
  void DescribeNegationTo(std::ostream* text) const { *text << "does not agree with the theory"; }
};
#elif __has_include(<catch2/matchers/catch_matchers.hpp>)
template <typename T>
using TestMatcher = Catch::Matchers::MatcherBase<T>;
#else
template <typename T>
using TestMatcher = Catch::MatcherBase<T>;
#endif

/// @brief Matches Data: one list of replicates, or one list for each theory value.
template <typename Data>
class AgreementMatcher : public TestMatcher<Data> {
 public:
  AgreementMatcher(std::vector<double> theory, Margin margin, Tails tails)
      : theory_(std::move(theory)), margin_(margin), tails_(tails) {}

  bool match(const Data& data) const override {
    std::vector<ComparedPoint> points;
    if constexpr (std::is_same_v<Data, std::vector<double>>) {
      points.push_back({.theory = theory_.front(), .replicates = data});
    } else {
      require(data.size() == theory_.size(),
              "replicates",
              static_cast<double>(data.size()),
              "a list for each theory value");
      for (std::size_t k = 0; k < data.size(); ++k)
        points.push_back({.theory = theory_[k], .replicates = data[k]});
    }
    for (ComparedPoint& point : points) {
      point.margin = margin_;
      point.tails = tails_;
    }
    const RunVerdict run = judge(points);
    found_.assign(describe_verdict(run));
    return run.verdict == Verdict::agree;
  }

  std::string describe() const override {
    return found_.empty() ? "agree with the theory" : "agree with the theory: " + found_;
  }

 private:
  static std::string describe_verdict(const RunVerdict& run) {
    std::string text(attica::describe(run.verdict));
    if (run.verdict == Verdict::agree || !run.worst) return text;
    const PointVerdict& point = run.points[*run.worst];
    text += ", " + std::to_string(run.agree) + " of " + std::to_string(run.compared) +
            " points agree; value " + std::to_string(*run.worst) + ": simulation " +
            std::to_string(point.sample.mean) + " +- " + std::to_string(point.sample.sem) +
            ", theory " + std::to_string(point.theory) + ", margin " + std::to_string(point.margin);
    return point.reason.empty() ? text : text + "; " + point.reason;
  }

  std::vector<double> theory_;
  Margin margin_;
  Tails tails_;
  mutable std::string found_;
};

/// @brief Whether replicates of one number agree with it.
/// @throws Error (input) for a negative margin
inline AgreementMatcher<std::vector<double>> Agrees(double theory,
                                                    Margin margin,
                                                    Tails tails = Tails::guarded) {
  return {{theory}, margin, tails};
}

/// @brief Whether replicates of several numbers, a list for each, agree with them.
inline AgreementMatcher<std::vector<std::vector<double>>> Agrees(std::vector<double> theory,
                                                                 Margin margin,
                                                                 Tails tails = Tails::guarded) {
  return {std::move(theory), margin, tails};
}

}  // namespace attica
