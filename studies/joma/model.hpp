#pragma once
/// @file
/// @brief What the studies of joint attention and MLP dynamics share: words for options, curves
/// numbered by token, unit or layer, ends of integrations.

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attica/core/joma/latent_tree.hpp"
#include "attica/core/joma/model.hpp"
#include "attica/solvers/ode.hpp"
#include "attica/studies/kit.hpp"

namespace attica {

inline const Choices<JomaAttention> kJomaAttentions = {{"linear", JomaAttention::linear},
                                                       {"exp", JomaAttention::exponential},
                                                       {"softmax", JomaAttention::softmax}};
inline const Choices<JomaActivation> kJomaActivations = {{"linear", JomaActivation::linear},
                                                         {"relu", JomaActivation::relu},
                                                         {"quadratic", JomaActivation::quadratic},
                                                         {"tanh", JomaActivation::tanh},
                                                         {"silu", JomaActivation::silu}};

/// @brief Numbering of tokens, units and layers in points: from 1.
double numbered(std::size_t index);
double numbered(Eigen::Index index);

/// @brief The curves of a name for every token, unit or layer: its number is a coordinate of the
/// points.
class NumberedCurves {
 public:
  NumberedCurves(const std::string& name,
                 const std::string& coordinate,
                 std::size_t count,
                 const std::string& x_name,
                 const Point& outer = {});

  Curves& operator[](std::size_t index) { return all_[index]; }
  /// @brief One value each.
  void add(double x, const std::vector<double>& values);
  template <class Result>
  void into(Result& result) const {
    for (const Curves& curve : all_) curve.into(result);
  }

 private:
  std::vector<Curves> all_;
};

/// @brief The rows of a heat map, each a curve against the numbered columns.
NumberedCurves map_rows(const std::string& name,
                        const std::string& row,
                        const std::string& column,
                        const Eigen::MatrixXd& matrix,
                        const Point& outer = {});

/// @brief At most so many of the values, evenly spread, the first among them.
template <class T>
std::vector<T> thinned(const std::vector<T>& values, std::size_t most) {
  const std::size_t every = std::max<std::size_t>((values.size() + most - 1) / most, 1);
  std::vector<T> some;
  for (std::size_t k = 0; k < values.size(); k += every) some.push_back(values[k]);
  return some;
}

/// @brief Marks the outcome as failed by an integration that did not come to its end, or came there
/// without the event it was to find: status "event_missed".
/// @param where put before the message
void mark_failed(Outcome& outcome, const OdeResult& solution, const std::string& where = "");
/// @brief Marks the outcome as failed because numbers were no longer finite at that step, unless it
/// is marked already.
void mark_diverged(Outcome& outcome, std::int64_t step);

/// @brief Throws Error (input) naming the parameter unless exp(gamma v^2) is a number.
void require_exponent(double gamma, double v, const char* name);

/// @brief The tree of `model.depth`, `model.root_prior` and `model.root_child`, but for rho; not
/// validated.
LatentTree configured_tree(const Configuration& c);

}  // namespace attica
