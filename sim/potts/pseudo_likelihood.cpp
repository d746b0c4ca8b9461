#include "attica/sim/potts/pseudo_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "attica/core/error.hpp"
#include "attica/core/parallel.hpp"
#include "attica/core/potts/coding.hpp"
#include "attica/core/potts/leading_mode.hpp"
#include "attica/core/softmax.hpp"
#include "attica/sim/networks/gemm.hpp"
#include "attica/sim/potts/factored_attention.hpp"
#include "attica/solvers/multinomial_regression.hpp"

namespace attica {

using Eigen::Index;

namespace {

constexpr Index kLanes = networks::kLanes<double>;
/// Sequences whose logits are in work at a time, and sites whose couplings stay in the cache.
constexpr Index kTile = 128;
constexpr Index kSitesAtATime = 8;
/// Vectors of a row that are held in registers.
constexpr Index kMostVectors = 4;

template <int Vectors>
using Row = Eigen::Array<double, Vectors* static_cast<int>(kLanes), 1>;

template <int Vectors>
Eigen::Map<Row<Vectors>> row_at(double* p) {
  return Eigen::Map<Row<Vectors>>(p);
}

/// Calls f with the number of vectors as a constant, for every slice of a row.
template <class F>
void for_slices(Index stride, F f) {
  Index column = 0;
  for (Index left = stride / kLanes; left > 0; left -= std::min(left, kMostVectors)) {
    switch (std::min(left, kMostVectors)) {
      case 1:
        f(std::integral_constant<int, 1>{}, column);
        break;
      case 2:
        f(std::integral_constant<int, 2>{}, column);
        break;
      case 3:
        f(std::integral_constant<int, 3>{}, column);
        break;
      default:
        f(std::integral_constant<int, 4>{}, column);
        break;
    }
    column += kMostVectors * kLanes;
  }
}

/// The site that the k-th coupling matrix of site i belongs to.
Index other_site(Index i, Index k) { return k < i ? k : k + 1; }

}  // namespace

PseudoLikelihood::PseudoLikelihood(const WeightedSequences& data,
                                   Index colours,
                                   double lambda,
                                   double bias_lambda)
    : sites_(data.sequences.cols()),
      colours_(colours),
      stride_(networks::padded<double>(colours)),
      lambda_(lambda),
      bias_lambda_(bias_lambda),
      by_site_(data.sequences),
      weights_(data.weights) {
  require_sequences(data.sequences, sites_, colours);
  require(lambda >= 0 && std::isfinite(lambda), "lambda", lambda, "lambda >= 0");
  require(bias_lambda >= 0 && std::isfinite(bias_lambda),
          "bias_lambda",
          bias_lambda,
          "bias_lambda >= 0");
  couplings_.setZero((sites_ - 1) * colours_ * stride_);
  dcouplings_.resizeLike(couplings_);
  logits_.setZero(kTile * stride_);
}

template <int Vectors>
void PseudoLikelihood::add_logits(Index site, Index first, Index count, Index column) {
  for (Index start = 0; start < sites_ - 1; start += kSitesAtATime) {
    const Index end = std::min(start + kSitesAtATime, sites_ - 1);
    for (Index m = 0; m < count; ++m) {
      auto logits = row_at<Vectors>(logits_.data() + m * stride_ + column);
      Row<Vectors> sum = logits;
      for (Index k = start; k < end; ++k) {
        const Index seen = by_site_(first + m, other_site(site, k));
        sum += row_at<Vectors>(couplings_.data() + (k * colours_ + seen) * stride_ + column);
      }
      logits = sum;
    }
  }
}

template <int Vectors>
void PseudoLikelihood::add_gradient(Index site, Index first, Index count, Index column) {
  for (Index start = 0; start < sites_ - 1; start += kSitesAtATime) {
    const Index end = std::min(start + kSitesAtATime, sites_ - 1);
    for (Index m = 0; m < count; ++m) {
      const Row<Vectors> upstream = row_at<Vectors>(logits_.data() + m * stride_ + column);
      for (Index k = start; k < end; ++k) {
        const Index seen = by_site_(first + m, other_site(site, k));
        row_at<Vectors>(dcouplings_.data() + (k * colours_ + seen) * stride_ + column) += upstream;
      }
    }
  }
}

double PseudoLikelihood::site(Index i, const double* x, double* gradient) {
  using Strided = Eigen::Map<Eigen::ArrayXXd, Eigen::Unaligned, Eigen::OuterStride<>>;
  const Index rows = (sites_ - 1) * colours_;
  const Eigen::Map<const Eigen::ArrayXd> bias(x, colours_);
  const Eigen::Map<const Eigen::ArrayXXd> w(x + colours_, colours_, rows);
  Strided(couplings_.data(), colours_, rows, Eigen::OuterStride<>(stride_)) = w;
  dcouplings_.setZero();
  // Padding takes no part in the softmax.
  Eigen::ArrayXd start =
      Eigen::ArrayXd::Constant(stride_, -std::numeric_limits<double>::infinity());
  start.head(colours_) = bias;
  Eigen::ArrayXd dbias = Eigen::ArrayXd::Zero(stride_);

  double loss = 0;
  for (Index first = 0; first < by_site_.rows(); first += kTile) {
    const Index count = std::min(kTile, by_site_.rows() - first);
    for (Index m = 0; m < count; ++m) logits_.segment(m * stride_, stride_) = start;
    for_slices(stride_, [&](auto vectors, Index column) {
      add_logits<vectors.value>(i, first, count, column);
    });
    for (Index m = 0; m < count; ++m) {
      auto h = logits_.segment(m * stride_, stride_);
      const Index own = by_site_(first + m, i);
      const double weight = weights_[first + m];
      const double shift = h.maxCoeff();
      const double target = h[own] - shift;
      h = (h - shift).exp();
      const double sum = h.sum();
      loss += weight * (std::log(sum) - target);
      h *= weight / sum;  // now the derivative by the logits
      h[own] -= weight;
      dbias += h;
    }
    if (gradient != nullptr) {
      for_slices(stride_, [&](auto vectors, Index column) {
        add_gradient<vectors.value>(i, first, count, column);
      });
    }
  }
  if (gradient != nullptr) {
    Eigen::Map<Eigen::ArrayXd>(gradient, colours_) = dbias.head(colours_) + bias_lambda_ * bias;
    Eigen::Map<Eigen::ArrayXXd>(gradient + colours_, colours_, rows) =
        Strided(dcouplings_.data(), colours_, rows, Eigen::OuterStride<>(stride_)) + lambda_ * w;
  }
  return loss + 0.5 * (lambda_ * w.square().sum() + bias_lambda_ * bias.square().sum());
}

double PseudoLikelihood::all_sites(const double* x, double* gradient) {
  const Index size = site_parameters();
  double sum = 0;
  for (Index i = 0; i < sites_; ++i) {
    sum += site(i, x + i * size, gradient == nullptr ? nullptr : gradient + i * size);
  }
  if (gradient != nullptr) {
    Eigen::Map<Eigen::ArrayXd>(gradient, sites_ * size) /= static_cast<double>(sites_);
  }
  return sum / static_cast<double>(sites_);
}

namespace {

/// With the number of colours as a constant, or Eigen::Dynamic.
template <int Colours>
void add_couplings(const PseudoLikelihoodFit& fit,
                   const std::uint8_t* sequence,
                   Eigen::MatrixXd& logits) {
  using Numbers = Eigen::Map<const Eigen::Vector<double, Colours>>;
  const Index colours = fit.colours;
  for (Index i = 0; i < logits.cols(); ++i) {
    const double* p = fit.parameters.col(i).data();
    Eigen::Vector<double, Colours> h = Numbers(p, colours);
    for (Index k = 0; k < logits.cols() - 1; ++k) {
      const Index seen = sequence[other_site(i, k)];
      h += Numbers(p + colours * (1 + k * colours + seen), colours);
    }
    logits.col(i) = h;
  }
}

}  // namespace

void PseudoLikelihoodFit::logits(const std::uint8_t* sequence, Eigen::MatrixXd& logits) const {
  logits.resize(colours, parameters.cols());
  switch (colours) {
    case 2:
      return add_couplings<2>(*this, sequence, logits);
    case 3:
      return add_couplings<3>(*this, sequence, logits);
    case 4:
      return add_couplings<4>(*this, sequence, logits);
    default:
      return add_couplings<Eigen::Dynamic>(*this, sequence, logits);
  }
}

namespace {

/// Parameters per site up to which Newton's method is used.
constexpr Index kMostNewtonParameters = 300;

/// The regression of site i on the zero-sum codes of the others. The penalty chooses, among equal
/// predictions, couplings whose columns add up to 0, and so do their rows unless the bias is
/// penalised: W_ij = B Omega_j^T B^T with the norm of Omega_j.
LbfgsResult newton_site(const WeightedSequences& data,
                        const Eigen::MatrixXd& codes,
                        Index colours,
                        double lambda,
                        double bias_lambda,
                        Index i,
                        double tolerance) {
  const Index width = colours - 1;
  const Index before = i * width;
  const Index after = codes.cols() - before - width;
  const Index samples = codes.rows();
  Eigen::MatrixXd features(1 + before + after, samples);
  features << Eigen::RowVectorXd::Ones(samples), codes.leftCols(before).transpose(),
      codes.rightCols(after).transpose();
  Eigen::MatrixXd targets = Eigen::MatrixXd::Zero(colours, samples);
  for (Index m = 0; m < samples; ++m) targets(data.sequences(m, i), m) = 1;
  MultinomialOptions options{.penalties = Eigen::VectorXd::Constant(features.rows(), lambda),
                             .gradient_tolerance = tolerance};
  // What does not depend on the other colours, k = b + sum_j r_j with r_j the row means of W_ij, is
  // split between them so that (bias_lambda/2) |b|^2 + (lambda/2) C sum_j |r_j|^2 is least: this is
  // the penalty of k that remains (0 where either lambda is 0), and the share of the bias.
  const auto others = static_cast<double>(data.sequences.cols() - 1);
  options.penalties[0] = 1 / (1 / bias_lambda + others / (lambda * static_cast<double>(colours)));
  const double bias_share = bias_lambda > 0 ? options.penalties[0] / bias_lambda : 1;
  const MultinomialFit fit = fit_multinomial(features, targets, data.weights, options);
  const Eigen::MatrixXd basis = zero_sum_basis(colours);
  LbfgsResult result{.x = Eigen::VectorXd(colours * (1 + (data.sequences.cols() - 1) * colours)),
                     .value = fit.loss,
                     .iterations = fit.iterations,
                     .converged = fit.converged};
  const Eigen::VectorXd constant = fit.coefficients.col(0);
  result.x.head(colours) = bias_share * constant;
  for (Index k = 0; k < data.sequences.cols() - 1; ++k) {
    Eigen::Map<Eigen::MatrixXd>(result.x.data() + colours * (1 + k * colours), colours, colours) =
        (fit.coefficients.middleCols(1 + k * width, width) * basis.transpose()).colwise() +
        (1 - bias_share) / others * constant;
  }
  return result;
}

}  // namespace

PseudoLikelihoodFit fit_pseudo_likelihood(const WeightedSequences& data,
                                          Index colours,
                                          double lambda,
                                          const LbfgsOptions& options,
                                          double bias_lambda) {
  const PseudoLikelihood problem(data, colours, lambda, bias_lambda);
  const Index sites = problem.sites();
  const Index size = problem.site_parameters();
  PseudoLikelihoodFit fit{
      .colours = colours, .parameters = Eigen::MatrixXd::Zero(size, sites), .converged = true};
  const Index coded_size = (colours - 1) * (1 + (sites - 1) * (colours - 1));
  std::vector<LbfgsResult> results(static_cast<std::size_t>(sites));
  if (coded_size <= kMostNewtonParameters) {
    const Eigen::MatrixXd codes = coded(data.sequences, colours);
    for (Index i = 0; i < sites; ++i) {
      results[static_cast<std::size_t>(i)] =
          newton_site(data, codes, colours, lambda, bias_lambda, i, options.gradient_tolerance);
    }
  } else {
    in_parallel(results.size(), [&](std::size_t i) {
      PseudoLikelihood own(problem);  // its workspace is one thread's
      results[i] = minimise_lbfgs(
          [&](const double* x, double* gradient) {
            return own.site(static_cast<Index>(i), x, gradient);
          },
          Eigen::VectorXd::Zero(size),
          options,
          [&](const Eigen::VectorXd& x, const Eigen::VectorXd& gradient) {
            return settled(x.tail(size - colours), gradient.tail(size - colours), lambda) &&
                   settled(x.head(colours), gradient.head(colours), bias_lambda);
          });
    });
  }
  for (Index i = 0; i < sites; ++i) {
    const LbfgsResult& r = results[static_cast<std::size_t>(i)];
    fit.parameters.col(i) = r.x;
    fit.objective += r.value / static_cast<double>(sites);
    const auto largest = [](const auto& part) { return part.cwiseAbs().maxCoeff(); };
    fit.converged = fit.converged && r.converged &&
                    (bias_lambda > 0 || largest(r.x.head(colours)) < kLargestLogit) &&
                    (lambda > 0 || largest(r.x.tail(size - colours)) < kLargestLogit);
    fit.iterations = std::max(fit.iterations, r.iterations);
  }
  return fit;
}

double pseudo_likelihood_loss(const PseudoLikelihoodFit& fit, const WeightedSequences& data) {
  Eigen::MatrixXd log_p;
  double sum = 0;
  for (Index m = 0; m < data.sequences.rows(); ++m) {
    fit.logits(data.sequences.row(m).data(), log_p);
    log_softmax_columns(log_p);
    for (Index i = 0; i < log_p.cols(); ++i)
      sum -= data.weights[m] * log_p(data.sequences(m, i), i);
  }
  return sum / static_cast<double>(data.sequences.cols());
}

FactoredAttention closest_factored(const PseudoLikelihoodFit& fit) {
  const Index sites = fit.parameters.cols();
  const Index colours = fit.colours;
  // One row per ordered pair (i, j), as Eigen reshapes A; one column per entry of V.
  Eigen::MatrixXd couplings = Eigen::MatrixXd::Zero(sites * sites, colours * colours);
  for (Index i = 0; i < sites; ++i) {
    for (Index k = 0; k < sites - 1; ++k) {
      couplings.row(i + sites * other_site(i, k)) =
          fit.parameters.col(i).segment(colours * (1 + k * colours), colours * colours);
    }
  }
  const LeadingMode mode = leading_mode(couplings);
  const double scale = std::sqrt(mode.value);
  return {scale * mode.left.reshaped(sites, sites), scale * mode.right.reshaped(colours, colours)};
}

FactoredFit fit_factored(const WeightedSequences& data,
                         Index colours,
                         const FactoredFitOptions& options,
                         RandomStream& stream) {
  require(options.starts >= 0 && (options.starts > 0 || options.first),
          "starts",
          options.starts,
          "at least 1 start");
  require(options.lambda >= 0 && std::isfinite(options.lambda),
          "lambda",
          options.lambda,
          "lambda >= 0");
  const Index sites = data.sequences.cols();
  const Index split = sites * sites;
  const auto unpacked = [&](const double* x) {
    return FactoredAttention{Eigen::Map<const Eigen::MatrixXd>(x, sites, sites),
                             Eigen::Map<const Eigen::MatrixXd>(x + split, colours, colours)};
  };
  FactoredAttention gradient;
  const GradientFunction objective = [&](const double* x, double* g) {
    const FactoredAttention student = unpacked(x);
    const double loss = factored_loss(student, data, g == nullptr ? nullptr : &gradient);
    if (g != nullptr) {
      Eigen::Map<Eigen::MatrixXd>(g, sites, sites) =
          gradient.attention + options.lambda * student.attention;
      Eigen::Map<Eigen::MatrixXd>(g + split, colours, colours) =
          gradient.values + options.lambda * student.values;
    }
    return loss +
           0.5 * options.lambda * (student.attention.squaredNorm() + student.values.squaredNorm());
  };
  FactoredFit best;
  const int total = options.starts + (options.first ? 1 : 0);
  for (int k = 0; k < total; ++k) {
    const FactoredAttention from = options.first && k == 0
                                       ? *options.first
                                       : random_student(sites, colours, options.deviation, stream);
    Eigen::VectorXd x(split + colours * colours);
    x << from.attention.reshaped(), from.values.reshaped();
    const LbfgsResult r = minimise_lbfgs(objective, x, options.search);
    if (k == 0 || r.value < best.objective) {
      best.student = unpacked(r.x.data());
      best.objective = r.value;
      best.converged = r.converged && best.student.attention.cwiseAbs().maxCoeff() *
                                              best.student.values.cwiseAbs().maxCoeff() <
                                          kLargestLogit;
    }
    best.worst_objective = k == 0 ? r.value : std::max(best.worst_objective, r.value);
  }
  return best;
}

WeightedSequences distinct(const Sequences& sample) {
  std::map<std::string, Index> counts;
  for (Index n = 0; n < sample.rows(); ++n) {
    const auto* first = reinterpret_cast<const char*>(sample.row(n).data());
    ++counts[std::string(first, first + sample.cols())];
  }
  WeightedSequences data{Sequences(static_cast<Index>(counts.size()), sample.cols()),
                         Eigen::VectorXd(static_cast<Index>(counts.size()))};
  Index row = 0;
  for (const auto& [sequence, count] : counts) {
    std::copy(sequence.begin(), sequence.end(), data.sequences.row(row).data());
    data.weights[row++] = static_cast<double>(count) / static_cast<double>(sample.rows());
  }
  return data;
}

}  // namespace attica
