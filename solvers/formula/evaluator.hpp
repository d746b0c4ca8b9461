#pragma once
/// @file
/// @brief Values of compiled formulas, one thread at a time.

#include <Eigen/Core>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attica/solvers/formula/sheet.hpp"

namespace attica::formula {

/// @brief How exactly binders are evaluated, and how much they may do.
struct Effort {
  /// Of an average, an integral, a root and a minimiser, relative.
  double tolerance = 1e-11;
  /// Of differential equations, relative.
  double flow_tolerance = 1e-10;
  /// Averages at half the nodes that the tolerance takes, quadrature a hundred times less exact:
  /// the difference of a second evaluation of this kind is the error of the first.
  bool half = false;
  /// Evaluations of a formula inside binders, all together.
  std::uint64_t evaluations = 20'000'000'000;
  std::int64_t steps = 1'000'000;  ///< of one flow
  double seconds = 0;              ///< of wall time; 0: no limit
};

/// @brief Numbers for the names of a sheet, and the formulas at them.
///
/// Averages over a normal variable are trapezoidal sums, whose step is halved from 0.6 until the
/// average changes by less than the tolerance times the average of the absolute value (of a pair:
/// Gauss-Hermite nodes, doubled from 16, of a formula without kinks). Where 32 times finer steps do
/// not suffice, or the error falls too slowly for a smooth function, quadrature is adaptive on
/// [-12, 12], or on [-37, 37] if the formula grows (GSL QAGP). Integrals: QAGS, QAGI. Roots: TOMS
/// 748. Minimisers: a grid, then the zero of the derivative, or Brent's method where no rule gives
/// the derivative.
class Evaluator {
 public:
  Evaluator(const Sheet& sheet, const Effort& effort);
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// @brief The number at a place of the sheet.
  double& operator[](int slot) { return values_[static_cast<std::size_t>(slot)]; }

  /// @brief Evaluates the definitions that depend on scalars alone: after those were set. Forgets
  /// how many nodes averages took before, so that values do not depend on what came earlier.
  void prepare();

  /// @brief The formulas of a group, roots by roots; of a group with an index `count` numbers each.
  /// A value may be infinite or NaN.
  /// @throws Error of kind numerical where a binder has no value (no sign change, no convergence,
  /// an integrand that is not finite), naming the formula
  void evaluate(const Group& group, std::span<double> values);
  double value(const Group& group);

  /// @brief Things to be told of the values so far, each once.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  friend class EvaluatorPair;
  struct Workspace;
  /// One number, or one for every value of the current index.
  struct Block {
    bool many = false;
    double one = 0;
    const double* all = nullptr;
  };
  class Lanes;
  class Noise;

  double scalar(int code);
  Block block(int code);
  template <class F>
  Block pairwise(const Code& c, F f);
  template <class F>
  Block one_by_one(const Code& c, F f);
  double* take();
  void spend(std::uint64_t evaluations);

  void define(int definition);
  double binder(int code);
  double normal(const Code& c);
  struct Average {
    double value = 0;
    double absolute = 0;  ///< average of the absolute value
    double error = 0;     ///< where it is larger than rounding
  };
  /// By the trapezoidal rule; empty where it does not converge.
  /// @param cut set where f is not small at the ends
  std::optional<Average> trapezoid(const Code& c, Workspace& w, bool& cut);
  /// With half the effort, a value that is small because its parts cancel is as far off as their
  /// rounding: the difference of both evaluations shows it.
  /// @param absolute the sum of the absolute values
  double with_rounding(double value, double absolute) const;
  double normal_pair(const Code& c);
  double integral(const Code& c);
  /// The same with the peaks that its nodes miss.
  double with_peaks(const std::function<double(double)>& f,
                    double a,
                    double b,
                    Workspace& w,
                    const Code& c,
                    int depth);
  struct Peak {
    double x = 0;
    double width = 0;
  };
  std::optional<Peak> missed_peak(const std::function<double(double)>& f,
                                  double a,
                                  double b,
                                  const Workspace& w) const;
  bool has_peaks(int code) const;
  bool has_kinks(int code) const;
  double mean(const Code& c);
  double sum(const Code& c);
  double root(const Code& c);
  double argmin(const Code& c);
  double slope(const Code& c);
  /// Whether a formula has a kink or a jump where it is differentiated.
  /// @param f its value at a distance, in units of `scale`
  /// @throws Error of kind numerical if it has one, unless a name is bound around it
  bool has_kink(const Code& c, const std::function<double(double)>& f, double here, double scale);
  /// The mean of f over a standard normal by adaptive quadrature.
  double weighed_by_density(const std::function<double(double)>& f, Workspace& w, const Code& c);
  double quadrature(const std::function<double(double)>& f,
                    double a,
                    double b,
                    std::span<const double> breaks,
                    Workspace& w,
                    const Code& c);
  double at(int slot, double value, int code);
  /// Sum of weights[k] f(x[k]) and of weights[k] |f(x[k])|.
  std::pair<double, double> weighted(int slot,
                                     std::span<const double> x,
                                     std::span<const double> weights,
                                     int f,
                                     bool with_absolute = true);
  double element(const Code& c, double index) const;
  [[noreturn]] void fail(const Code& c, const std::string& what) const;
  void remark(const std::string& text);
  Workspace& workspace(const Code& c);

  const Sheet& sheet_;
  Effort effort_;
  std::vector<double> values_;
  struct Numbers {
    std::vector<double> values;
    std::vector<double> weights;
    double total_weight = 0;
  };
  std::vector<Numbers> lists_;
  /// Of every definition, the numbers with which it was evaluated last.
  std::vector<std::optional<std::vector<double>>> defined_with_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
  std::vector<std::unique_ptr<double[]>> room_;  ///< of blocks, a stack
  std::size_t top_ = 0;
  int lane_slot_ = -1;
  const double* lane_ = nullptr;
  std::size_t lanes_ = 0;
  std::uint64_t evaluations_ = 0;
  double noise_ = 0;  ///< rounding of the averages and integrals so far, inside of the present one
  std::uint64_t next_look_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::vector<std::string> remarks_;
};

/// @brief Two evaluators of one sheet, side by side: of each pair of numbers the first is that of
/// the one, the second that of the other. Arithmetic takes as long for two as for one.
class EvaluatorPair {
 public:
  using Pair = Eigen::Array2d;

  /// @brief With the numbers that two evaluators of the same sheet have now. They outlive it.
  EvaluatorPair(Evaluator& first, const Evaluator& second);

  /// @brief Whether a group can be evaluated here: without binders, elements and indices, also in
  /// the definitions that move.
  static bool takes(const Sheet& sheet, const Group& group);

  /// @brief The pair of numbers at a place of the sheet.
  Pair& operator[](int slot) { return values_[static_cast<std::size_t>(slot)]; }

  /// @brief The formulas of a group that it takes, roots by roots. A value may be infinite, or NaN,
  /// which all are where a definition is not finite.
  /// @throws Error of kind numerical where the evaluations or the time of the first one are spent
  void evaluate(const Group& group, Pair* values);

 private:
  Evaluator& first_;
  std::vector<Pair> values_;
};

}  // namespace attica::formula
