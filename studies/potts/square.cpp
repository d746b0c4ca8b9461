/// @file
/// @brief Study potts-square: ridge regression of coded Potts sequences against the theory for
/// Gaussian data of equal covariance.

#include <Eigen/Cholesky>

#include "attica/core/parallel.hpp"
#include "attica/core/potts/coding.hpp"
#include "attica/sim/gauss/ridge.hpp"
#include "attica/sim/potts/block_ridge.hpp"
#include "attica/studies/gauss/order.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/sample_ratios.hpp"
#include "attica/theory/potts/block_ridge.hpp"

namespace attica::potts_square {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// How far data of the covariance's class lie off the leading order: shares of what the next order
/// of Gaussian data is off, and of 1/N. Measured at C = 2, 3 and 6, L = 12 and 30 (N = 22 to 58),
/// λ = 0.01 to 0.5: 0.62 of the former in a train error, 0.28 of the latter in a test error.
constexpr double kOfNextOrder = 0.65;
constexpr double kOfInputs = 0.3;
/// Relative; where more is left out the theory is drawn and not compared.
constexpr double kMostLeftOut = 0.15;

/// All that a pool of sequences is made of.
std::vector<double> numbers_of(const PottsModel& model,
                               const GibbsPoolOptions& options,
                               std::uint64_t seed) {
  std::vector<double> all{model.beta(),
                          static_cast<double>(options.chains),
                          static_cast<double>(options.burn_in),
                          static_cast<double>(options.draws),
                          options.allow_unconverged ? 1.0 : 0.0,
                          static_cast<double>(seed >> 32U),
                          static_cast<double>(seed & 0xffffffffU)};
  for (const MatrixXd* matrix : {&model.couplings(), &model.colour_couplings()}) {
    all.push_back(static_cast<double>(matrix->rows()));
    all.insert(all.end(), matrix->data(), matrix->data() + matrix->size());
  }
  return all;
}

/// Sequences to draw from, with their moments. Takes seconds to make for models too large to
/// enumerate.
struct Population {
  Population(const PottsModel& model, const GibbsPoolOptions& options, const StreamAddress& address)
      : data(model, options, address),
        moments(coded_moments(data.population(), model.colours())),
        factor(moments.covariance.llt().matrixL()) {}

  PottsData data;
  CodedMoments moments;
  MatrixXd factor;  ///< of the covariance, to draw Gaussian data with it
};

class Square : public PointwiseExperiment {
 public:
  explicit Square(Configuration& c)
      : family_(c),
        population_([family = family_, options = gibbs_pool_options(c), shared = c.shared] {
          const PottsModel model = family.model(0);
          const auto make = [&] {
            return std::make_shared<const Population>(
                model, options, StreamAddress{.seed = family.seed()});
          };
          return shared ? shared->get<Population>(numbers_of(model, options, family.seed()), make)
                        : make();
        }),
        order_(configured_order(c)),
        block_(family_.colours() - 1),
        control_(c.flag("sim.gaussian_control")),
        inputs_(static_cast<double>((family_.sites() - 1) * block_)),
        sizes_(swept_sizes(c, inputs_)),
        lambdas_(c.reals("sweep.lambda")) {
    warnings_ = rounded_ratios(c, sizes_);
  }

  void require_simulable() const override { require_distinct_samples(sizes_); }

  TheoryResult theory(TheoryGrid grid) const override {
    const BlockRidge ridge = family_.square_loss(population_.get()->moments.covariance);
    TheoryResult result;
    const std::vector<double> alphas = line_through(sizes_.alphas(grid), 80, AxisScale::log, grid);
    for (const double lambda : lambdas_) {
      const auto points = parallel_map(
          alphas, [&](double alpha) { return ridge.averages(alpha * inputs_, lambda); });
      Curves tests = curves("test_error", lambda);
      Curves trains = curves("train_error", lambda);
      Curves gaussian_tests = curves("gaussian_test_error", lambda);
      Curves gaussian_trains = curves("gaussian_train_error", lambda);
      for (std::size_t k = 0; k < alphas.size(); ++k) {
        const double alpha = alphas[k];
        const auto& [p, next] = points[k];
        const BlockRidgePoint g = gaussian(points[k], alpha * inputs_);
        // Far below the test error a train error is that of an interpolation: nothing to compare.
        constexpr double kLeastShare = 1e-3;
        const bool tells = p.train_error >= kLeastShare * p.test_error;
        const auto told = [&](double leading, double corrected, bool compared) -> PredictedValue {
          const double left_out =
              kOfNextOrder * std::abs(corrected - leading) + kOfInputs / inputs_ * leading;
          // At the peak without a penalty both are infinite.
          const bool small = left_out <= kMostLeftOut * leading;
          return {leading, small ? left_out : 0, compared && small};
        };
        tests.add(alpha, {told(p.test_error, next.test_error, true)});
        trains.add(alpha, {told(p.train_error, next.train_error, tells)});
        gaussian_tests.add(alpha, {test_error_value(order_, g.test_error, g.finite_size_test)});
        gaussian_trains.add(
            alpha, {train_error_value(order_, g.train_error, g.test_error, g.finite_size_train)});
      }
      tests.into(result);
      if (control_) gaussian_tests.into(result);
      trains.into(result);
      if (control_) gaussian_trains.into(result);
    }
    result.diagnostics = {{"inputs", inputs_}};
    return result;
  }

  std::size_t points() const override { return sizes_.count(); }

 protected:
  double flops(std::size_t point) const override {
    constexpr double kProductsPerFit = 6;
    const double size = inputs_ + static_cast<double>(block_);
    return size * size *
           (2 * static_cast<double>(sizes_[point]) +
            kProductsPerFit * static_cast<double>(lambdas_.size()) * size);
  }

  Outcome run(const Replicate& replicate) const override {
    const Population& population = *population_.get();
    const Index samples = sizes_[replicate.point()];
    RandomStream stream = replicate.stream();
    MatrixXd z = coded(population.data.draw(samples, stream), family_.colours());
    z.rowwise() -= population.moments.mean.transpose();
    const MatrixXd gaussian =
        control_ ? gaussian_samples(population.factor, true, samples, stream) : MatrixXd();
    Outcome outcome;
    for (const double lambda : lambdas_) {
      const auto record = [&](const std::string& prefix, const MatrixXd& data) {
        const BlockRidgeErrors e =
            block_ridge_errors(data, population.moments.covariance, block_, lambda);
        const double alpha = sizes_.alpha(replicate.point());
        curves(prefix + "test_error", lambda).add(alpha, {e.test}).into(outcome);
        curves(prefix + "train_error", lambda).add(alpha, {e.train}).into(outcome);
      };
      record("", z);
      if (control_) record("gaussian_", gaussian);
    }
    return outcome;
  }

 private:
  /// Of the control, which is judged as Gaussian data elsewhere.
  BlockRidgePoint gaussian(const BlockRidgeOrders& orders, double samples) const {
    if (order_ == RidgeOrder::first) return orders.first;
    BlockRidgePoint point = orders.leading;
    // Up to 1 (test) or 3 (train) times the relative size of what is left out.
    const double left_out = 1 / (samples * point.one_minus_gamma);
    point.finite_size_test = left_out * point.test_error;
    point.finite_size_train = 3 * left_out * point.train_error;
    return point;
  }

  static Curves curves(const std::string& name, double lambda) {
    return {{{"lambda", lambda}}, "alpha", {name}};
  }

  PottsFamily family_;
  Lazy<std::shared_ptr<const Population>> population_;
  RidgeOrder order_;  ///< of the control
  Index block_;       ///< C - 1
  bool control_;
  double inputs_;  ///< N = (L-1)(C-1)
  SampleSizes sizes_;
  std::vector<double> lambdas_;
};

}  // namespace

Study study() { return described({.name = "potts-square", .make = make<Square>}); }

}  // namespace attica::potts_square
