#include "attica/studies/gauss/order.hpp"

#include <cmath>

#include "attica/studies/gauss/model.hpp"

namespace attica {

namespace {

const Choices<RidgeOrder>& orders() {
  static const Choices<RidgeOrder> all = {{"leading", RidgeOrder::leading},
                                          {"first", RidgeOrder::first}};
  return all;
}

}  // namespace

RidgeOrder configured_order(const Configuration& c) { return orders().of(c, "theory.order"); }

RidgeOrder ridge_order(Configuration& c) {
  if (on_data(c)) c.set("theory.order", Value("leading"), false);
  return configured_order(c);
}

std::string order_words(const Configuration& c) {
  return configured_order(c) == RidgeOrder::first ? "theory to order 1/M"
                                                  : "theory at leading order";
}

PredictedValue test_error_value(RidgeOrder order, double value, double allowance, double error) {
  constexpr double kLargestShare = 0.1;
  const bool compared =
      order == RidgeOrder::leading || allowance <= kLargestShare * std::abs(value);
  return {value, allowance, compared, error};
}

PredictedValue train_error_value(
    RidgeOrder order, double value, double test_error, double allowance, double error) {
  constexpr double kSmallestAtLeadingOrder = 1e-2;
  constexpr double kSmallest = 1e-10;
  PredictedValue told = test_error_value(order, value, allowance, error);
  const double smallest = order == RidgeOrder::leading ? kSmallestAtLeadingOrder : kSmallest;
  told.compared = told.compared && value >= smallest * test_error;
  return told;
}

}  // namespace attica
