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

/// All products of at most `degree` of some numbers, 1 first.
void append_monomials(const Eigen::VectorXd& numbers, int degree, std::vector<double>& all) {
  all.assign(1, 1.0);
  std::vector<Index> last(1, 0);  // the number up to which the next factor may go on from
  std::size_t first = 0;
  for (int d = 0; d < degree; ++d) {
    const std::size_t end = all.size();
    for (std::size_t m = first; m < end; ++m) {
      for (Index k = last[m]; k < numbers.size(); ++k) {
        all.push_back(all[m] * numbers[k]);
        last.push_back(k);
      }
    }
    first = end;
  }
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
  const auto features = count_vectors(order - 1, colours);
  require_regression(order, features, colours);
  const double others = contexts.counts.row(0).cast<double>().sum();
  const double mean = others / static_cast<double>(colours);
  // Numbers of order one, of which products are well conditioned.
  const MatrixXd codes = zero_sum_basis(colours).transpose() / std::sqrt(std::max(mean, 1.0));
  constexpr Index kPiece = 1 << 17;  // cases
  const auto cases = [&](std::span<const Index> numbers) {
    const auto count = std::ssize(numbers);
    MultinomialCases some{MatrixXd(static_cast<Index>(features), count), MatrixXd(colours, count)};
    std::vector<double> column;
    for (Index n = 0; n < count; ++n) {
      const Index k = numbers[static_cast<std::size_t>(n)];
      append_monomials(
          codes * contexts.counts.row(k).cast<double>().transpose(), order - 1, column);
      some.features.col(n) = Eigen::Map<const Eigen::VectorXd>(column.data(), some.features.rows());
      some.targets.col(n) = contexts.log_conditionals.col(k).array().exp();
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
