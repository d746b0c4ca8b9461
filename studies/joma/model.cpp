#include "attica/studies/joma/model.hpp"

#include <fmt/format.h>

namespace attica {

double numbered(std::size_t index) { return static_cast<double>(index) + 1; }
double numbered(Eigen::Index index) { return static_cast<double>(index) + 1; }

NumberedCurves::NumberedCurves(const std::string& name,
                               const std::string& coordinate,
                               std::size_t count,
                               const std::string& x_name,
                               const Point& outer) {
  for (std::size_t i = 0; i < count; ++i) {
    all_.emplace_back(
        joined(outer, {{coordinate, numbered(i)}}), x_name, std::vector<std::string>{name});
  }
}

void NumberedCurves::add(double x, const std::vector<double>& values) {
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].add(x, {values.at(i)});
}

NumberedCurves map_rows(const std::string& name,
                        const std::string& row,
                        const std::string& column,
                        const Eigen::MatrixXd& matrix,
                        const Point& outer) {
  NumberedCurves rows(name, row, static_cast<std::size_t>(matrix.rows()), column, outer);
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    rows.add(numbered(j), {matrix.col(j).begin(), matrix.col(j).end()});
  }
  return rows;
}

void mark_failed(Outcome& outcome, const OdeResult& solution, const std::string& where) {
  outcome.failed = true;
  // An integration that came to its end without the event it was to find has failed as well.
  outcome.status =
      solution.status == OdeStatus::finished ? "event_missed" : to_string(solution.status);
  outcome.message = where + describe(solution);
}

void mark_diverged(Outcome& outcome, std::int64_t step) {
  if (outcome.failed) return;
  outcome.failed = true;
  outcome.status = "diverged";
  outcome.message = fmt::format("training diverged: numbers are not finite at step {}", step);
}

void require_exponent(double gamma, double v, const char* name) {
  constexpr double kLargestExponent = 600;
  require(gamma * v * v <= kLargestExponent,
          name,
          v,
          "gamma mu^2 <= 600, so that exp of it is a number");
}

LatentTree configured_tree(const Configuration& c) {
  LatentTree tree;
  const std::vector<double> prior = c.reals("model.root_prior");
  std::vector<std::vector<double>> rows = c.rows("model.root_child");
  if (rows.size() == 1) rows.push_back(rows.front());  // one law for both children
  tree.depth = c.integer<int>("model.depth");
  tree.prior =
      Eigen::Map<const Eigen::VectorXd>(prior.data(), static_cast<Eigen::Index>(prior.size()));
  tree.root_child = Eigen::MatrixXd(static_cast<Eigen::Index>(rows.size()), tree.classes());
  for (std::size_t a = 0; a < rows.size(); ++a) {
    require(rows[a].size() == prior.size(),
            "model.root_child",
            static_cast<double>(rows[a].size()),
            "rows with one probability per class of model.root_prior");
    tree.root_child.row(static_cast<Eigen::Index>(a)) =
        Eigen::Map<const Eigen::RowVectorXd>(rows[a].data(), tree.classes());
  }
  return tree;
}

}  // namespace attica
