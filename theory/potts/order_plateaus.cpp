#include "attica/theory/potts/order_plateaus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "attica/core/error.hpp"
#include "attica/core/softmax.hpp"
#include "attica/solvers/multinomial_regression.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

double context_feature_count(Index sites, Index colours, int factors) {
  double count = 1;
  double products = 1;
  for (int k = 1; k <= std::min<Index>(factors, sites - 1); ++k) {
    products *= static_cast<double>((sites - k) * (colours - 1)) / k;
    count += products;
  }
  return count;
}

MatrixXd context_features(const MaskedSite& site, Index masked, Index colours, int factors) {
  const MatrixXd codes = zero_sum_basis(colours).transpose();  // column a: the code of colour a
  const Index sites = site.contexts.cols();
  MatrixXd features(static_cast<Index>(context_feature_count(sites, colours, factors)),
                    site.contexts.rows());
  std::vector<double> column;
  for (Index n = 0; n < site.contexts.rows(); ++n) {
    // Products of k codes are products of k-1 codes of earlier sites with one more site's.
    struct Group {
      std::size_t first, count;
      Index last_site;
    };
    column.assign(1, 1.0);
    std::vector<Group> shorter{{0, 1, -1}};
    for (int k = 1; k <= factors; ++k) {
      std::vector<Group> longer;
      for (const Group& group : shorter) {
        for (Index j = group.last_site + 1; j < sites; ++j) {
          if (j == masked) continue;
          const std::size_t first = column.size();
          for (std::size_t f = group.first; f < group.first + group.count; ++f) {
            for (const double code : codes.col(site.contexts(n, j))) {
              column.push_back(column[f] * code);
            }
          }
          longer.push_back({first, column.size() - first, j});
        }
      }
      shorter = std::move(longer);
    }
    features.col(n) = Eigen::Map<const Eigen::VectorXd>(column.data(), features.rows());
  }
  return features;
}

namespace {

void require_regression(int order, double features, Index colours) {
  require(order >= 1, "order", order, "at least 1");
  const double parameters = features * static_cast<double>(colours - 1);
  require(parameters <= kMostRegressionParameters,
          "order",
          order,
          fmt::format(
              "at most {:g} parameters a site (here {:g})", kMostRegressionParameters, parameters));
}

/// Whether a site's contexts are all that there are.
bool has_all_contexts(const MaskedSite& site, Index colours) {
  return static_cast<double>(site.contexts.rows()) ==
         std::pow(static_cast<double>(colours), static_cast<double>(site.contexts.cols() - 1));
}

/// Sums of products of the codes of at most `factors` other sites, as functions of all contexts:
/// tensors with an axis of C entries for every other site, transformed axis by axis.
class ContextProducts {
 public:
  ContextProducts(const MaskedSite& site, Index masked, Index colours, int factors)
      : axes_(site.contexts.cols() - 1), basis_(colours, colours) {
    const auto c = static_cast<double>(colours);
    basis_ << Eigen::VectorXd::Ones(colours), std::sqrt(c) * zero_sum_basis(colours);
    for (Index n = 0; n < site.contexts.rows(); ++n) {
      Index place = 0;
      for (Index j = site.contexts.cols() - 1; j >= 0; --j) {
        if (j != masked) place = place * colours + site.contexts(n, j);
      }
      places_.push_back(place);
    }
    // The basis of an axis begins with the constant: what is not constant there is a factor.
    for (Index place = 0; place < std::ssize(places_); ++place) {
      int used = 0;
      for (Index rest = place; rest > 0; rest /= colours) used += rest % colours > 0 ? 1 : 0;
      if (used <= factors) kept_.push_back(place);
    }
  }

  /// Where context n of the site stands in a tensor.
  const std::vector<Index>& places() const { return places_; }
  Index products() const { return std::ssize(kept_); }

  /// @param coefficients of several functions; @shape{K x products} @return @shape{K x contexts}
  MatrixXd values(const MatrixXd& coefficients) const {
    MatrixXd all = MatrixXd::Zero(coefficients.rows(), std::ssize(places_));
    all(Eigen::all, kept_) = coefficients;
    along_axes(basis_.transpose(), all);
    return all;
  }
  /// The transposed map.
  MatrixXd back(MatrixXd values) const {
    along_axes(basis_, values);
    return values(Eigen::all, kept_);
  }

 private:
  void along_axes(const MatrixXd& factor, MatrixXd& tensor) const {
    const Index colours = factor.rows();
    Index inner = tensor.rows();
    for (Index axis = 0; axis < axes_; ++axis, inner *= colours) {
      for (Index first = 0; first < tensor.size(); first += inner * colours) {
        Eigen::Map<MatrixXd> part(tensor.data() + first, inner, colours);
        part = (part * factor).eval();
      }
    }
  }

  Index axes_;
  MatrixXd basis_;  ///< a function of one site's colour a column
  std::vector<Index> places_;
  std::vector<Index> kept_;
};

/// The same regression as `fit_multinomial` on `context_features`, without a matrix of features:
/// Newton's method with steps by conjugate gradients.
class ContextRegression {
 public:
  ContextRegression(const MaskedSite& site, Index masked, Index colours, int factors)
      : products_(site, masked, colours, factors),
        codes_(zero_sum_basis(colours)),
        targets_(colours, site.weights.size()),
        weights_(site.weights.size()),
        coefficients_(MatrixXd::Zero(colours - 1, products_.products())) {
    targets_(Eigen::all, products_.places()) = site.log_conditionals.array().exp().matrix();
    weights_(products_.places()) = site.weights.transpose();
  }

  /// The least loss; empty if it is not reached.
  std::optional<double> loss() {
    constexpr double kTolerance = 1e-9;  // of the gradient, whose square the loss is off by
    constexpr int kMostSteps = 100;
    double now = look(coefficients_);
    for (int n = 0; n < kMostSteps; ++n) {
      const MatrixXd gradient = back(weighted_ - targets_ * weights_.asDiagonal());
      if (gradient.cwiseAbs().maxCoeff() < kTolerance) return now;
      MatrixXd step = newton_step(gradient);
      const MatrixXd from = coefficients_;
      constexpr double kRounding = 1e-14;
      constexpr double kShortest = 1e-6;
      double length = 1;
      for (;; length /= 2) {
        if (length < kShortest) return {};
        coefficients_ = from - length * step;
        const double then = look(coefficients_);
        if (!(then <= now + kRounding * std::abs(now))) continue;
        now = then;
        break;
      }
    }
    return {};
  }

 private:
  MatrixXd back(const MatrixXd& values) const {
    return products_.back(codes_.transpose() * values);
  }

  /// The loss, and the predictions times weights.
  double look(const MatrixXd& coefficients) {
    weighted_.noalias() = codes_ * products_.values(coefficients);
    double sum = 0;
    for (Index n = 0; n < weighted_.cols(); ++n) {
      auto p = weighted_.col(n);
      const double along = targets_.col(n).dot(p);
      const double highest = p.maxCoeff();
      p = (p.array() - highest).exp().matrix();
      const double total = p.sum();
      sum += weights_[n] * (highest + std::log(total) - along);
      p *= weights_[n] / total;
    }
    return sum;
  }

  MatrixXd hessian_times(const MatrixXd& direction) const {
    MatrixXd moved = codes_ * products_.values(direction);
    for (Index n = 0; n < moved.cols(); ++n) {
      const auto p = weighted_.col(n).array();
      auto x = moved.col(n).array();
      const double mean = weights_[n] > 0 ? (p * x).sum() / weights_[n] : 0;
      x = p * (x - mean);
    }
    return back(moved);
  }

  MatrixXd newton_step(const MatrixXd& gradient) const {
    constexpr int kMostIterations = 1000;
    constexpr double kShare = 0.01;
    MatrixXd step = MatrixXd::Zero(gradient.rows(), gradient.cols());
    MatrixXd left = gradient;
    MatrixXd direction = left;
    double square = left.squaredNorm();
    const double enough = kShare * kShare * square;
    for (int n = 0; n < kMostIterations && square > enough; ++n) {
      const MatrixXd image = hessian_times(direction);
      const double curvature = direction.cwiseProduct(image).sum();
      if (!(curvature > 0)) break;
      const double length = square / curvature;
      step += length * direction;
      left -= length * image;
      const double next = left.squaredNorm();
      direction = left + next / square * direction;
      square = next;
    }
    return step;
  }

  ContextProducts products_;
  MatrixXd codes_;
  MatrixXd targets_;
  Eigen::RowVectorXd weights_;
  MatrixXd coefficients_;
  MatrixXd weighted_;
};

/// A product of numbers: an earlier one times one more.
struct Monomial {
  Index shorter = 0;
  Index number = 0;
};

/// All products of at most `degree` of so many numbers, but for the first, which is 1.
std::vector<Monomial> monomials(Index numbers, int degree) {
  std::vector<Monomial> all;
  std::vector<Index> last = {0};  // the number from which the next factor may go on
  Index first = 0;
  for (int d = 0; d < degree; ++d) {
    const auto end = std::ssize(last);
    for (Index m = first; m < end; ++m) {
      for (Index k = last[static_cast<std::size_t>(m)]; k < numbers; ++k) {
        all.push_back({.shorter = m, .number = k});
        last.push_back(k);
      }
    }
    first = end;
  }
  return all;
}

}  // namespace

double iterated_order_plateau(const MaskedPopulation& population, Index colours, int order) {
  const auto sites = static_cast<Index>(population.sites().size());
  require(order >= 1, "order", order, "at least 1");
  double sum = 0;
  for (Index i = 0; i < sites; ++i) {
    const MaskedSite& site = population.sites()[static_cast<std::size_t>(i)];
    require(has_all_contexts(site, colours),
            "order",
            order,
            "all contexts of every site, for a regression of so many parameters");
    const std::optional<double> loss = ContextRegression(site, i, colours, order - 1).loss();
    if (!loss) {
      throw Error(ErrorKind::numerical,
                  fmt::format("the regression of order {} did not converge at site {}", order, i));
    }
    sum += *loss;
  }
  return sum / static_cast<double>(sites);
}

double order_plateau(const MaskedPopulation& population, Index colours, int order) {
  const auto sites = static_cast<Index>(population.sites().size());
  const double features = context_feature_count(sites, colours, order - 1);
  const double parameters = features * static_cast<double>(colours - 1);
  constexpr double kManyParameters = 1000;  // from here on a dense step takes longer
  if (parameters > kManyParameters && has_all_contexts(population.sites()[0], colours)) {
    return iterated_order_plateau(population, colours, order);
  }
  require_regression(order, features, colours);
  double sum = 0;
  for (Index i = 0; i < sites; ++i) {
    const MaskedSite& site = population.sites()[static_cast<std::size_t>(i)];
    const MultinomialFit fit = fit_multinomial(context_features(site, i, colours, order - 1),
                                               site.log_conditionals.array().exp(),
                                               site.weights);
    if (!fit.converged) {
      throw Error(ErrorKind::numerical,
                  fmt::format("the regression of order {} did not converge at site {}", order, i));
    }
    sum += fit.loss;
  }
  return sum / static_cast<double>(sites);
}

double order_plateau(const CountedContexts& contexts, int order) {
  const Index colours = contexts.counts.cols();
  require_regression(order, count_vectors(order - 1, colours), colours);
  const std::vector<Monomial> products = monomials(colours - 1, order - 1);
  const double others = contexts.counts.row(0).cast<double>().sum();
  // Numbers of order one, of which products are well conditioned.
  const double scale = std::sqrt(std::max(others / static_cast<double>(colours), 1.0));
  const MatrixXd codes = zero_sum_basis(colours).transpose() / scale;
  constexpr Index kPiece = 1 << 17;  // cases
  const auto cases = [&](std::span<const Index> numbers) {
    const MatrixXd coded = codes * contexts.counts(numbers, Eigen::all).cast<double>().transpose();
    MultinomialCases some{MatrixXd(std::ssize(products) + 1, coded.cols()),
                          contexts.log_conditionals(Eigen::all, numbers).array().exp()};
    for (Index n = 0; n < coded.cols(); ++n) {
      double* feature = some.features.col(n).data();
      feature[0] = 1;
      for (std::size_t m = 0; m < products.size(); ++m) {
        feature[m + 1] = feature[products[m].shorter] * coded(products[m].number, n);
      }
    }
    return some;
  };
  const MultinomialFit fit = fit_multinomial(contexts.weights, kPiece, cases);
  if (!fit.converged) {
    throw Error(ErrorKind::numerical,
                fmt::format("the regression of order {} on counts did not converge", order));
  }
  return fit.loss;
}

}  // namespace attica
