#include "attica/theory/potts/order_plateaus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

double order_plateau(const MaskedPopulation& population, Index colours, int order) {
  require(order >= 1, "order", order, "at least 1");
  const auto sites = static_cast<Index>(population.sites().size());
  const double parameters =
      context_feature_count(sites, colours, order - 1) * static_cast<double>(colours - 1);
  require(parameters <= kMostRegressionParameters,
          "order",
          order,
          fmt::format(
              "at most {:g} parameters a site (here {:g})", kMostRegressionParameters, parameters));
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

}  // namespace attica
