#include "attica/theory/potts/order_plateaus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

double order_plateau(const MaskedPopulation& population, Index colours, int order) {
  const auto sites = static_cast<Index>(population.sites().size());
  require_regression(order, context_feature_count(sites, colours, order - 1), colours);
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
