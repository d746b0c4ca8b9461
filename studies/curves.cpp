#include "attica/studies/curves.hpp"

#include <algorithm>
#include <cmath>

namespace attica {

Curves::Curves(const Point& point,
               const std::string& x_name,
               const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    curves_.push_back(
        {.series = {.name = name, .point = point, .x_name = x_name, .x = {}, .y = {}}});
  }
}

Curves& Curves::add(double x, const std::vector<PredictedValue>& values) {
  for (std::size_t k = 0; k < curves_.size(); ++k) {
    Prediction& curve = curves_[k];
    const PredictedValue& told = values.at(k);
    curve.series.x.push_back(x);
    curve.series.y.push_back(told.y);
    curve.finite_size.push_back(told.finite_size);
    curve.numerical_error.push_back(told.numerical_error);
    curve.compared.push_back(told.compared);
  }
  return *this;
}

Curves& Curves::add(double x, const std::vector<double>& values) {
  return add(x, std::vector<PredictedValue>(values.begin(), values.end()));
}

Curves& Curves::allow_share(double share, std::string_view series) {
  for (Prediction& curve : curves_) {
    if (!series.empty() && curve.series.name != series) continue;
    double largest = 0;
    for (const double y : curve.series.y) largest = std::max(largest, std::abs(y));
    for (double& allowance : curve.finite_size) allowance += share * largest;
  }
  return *this;
}

void Curves::into(TheoryResult& theory) const {
  const auto silent = [](const auto& values, auto unsaid) {
    return std::all_of(values.begin(), values.end(), [&](auto value) { return value == unsaid; });
  };
  for (Prediction curve : curves_) {
    if (silent(curve.finite_size, 0.0)) curve.finite_size.clear();
    if (silent(curve.numerical_error, 0.0)) curve.numerical_error.clear();
    if (silent(curve.compared, true)) curve.compared.clear();
    theory.predictions.push_back(std::move(curve));
  }
}

void Curves::into(Outcome& outcome) const {
  for (const Prediction& curve : curves_) outcome.series.push_back(curve.series);
}

}  // namespace attica
