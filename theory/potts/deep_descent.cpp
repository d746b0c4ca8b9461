#include "attica/theory/potts/deep_descent.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "attica/core/error.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

Index layer_size(Index sites, Index colours) { return sites * sites + colours * colours; }

/// (1 - ratio^count) / (1 - ratio) = 1 + ratio + ... + ratio^{count-1}
double geometric_sum(double ratio, double count) {
  constexpr double kEqual = 1e-12;
  return std::abs(1 - ratio) < kEqual ? count : (1 - std::pow(ratio, count)) / (1 - ratio);
}

}  // namespace

VectorXd packed_layers(const DeepLayers& layers) {
  Index size = 0;
  for (const FactoredAttention& l : layers) size += l.attention.size() + l.values.size();
  VectorXd x(size);
  Index at = 0;
  for (const FactoredAttention& l : layers) {
    for (const MatrixXd* map : {&l.attention, &l.values}) {
      x.segment(at, map->size()) = map->reshaped();
      at += map->size();
    }
  }
  return x;
}

DeepLayers unpacked_layers(const VectorXd& x, Index sites, Index colours) {
  DeepLayers layers;
  for (Index at = 0; at < x.size(); at += layer_size(sites, colours)) {
    layers.push_back({x.segment(at, sites * sites).reshaped(sites, sites),
                      x.segment(at + sites * sites, colours * colours).reshaped(colours, colours)});
  }
  return layers;
}

DeepPopulation::DeepPopulation(const MaskedPopulation& population, Index colours, bool residual)
    : sites_(std::ssize(population.sites())),
      colours_(colours),
      residual_(residual),
      bayes_loss_(population.bayes_loss()) {
  Index rows = 0;
  for (const MaskedSite& site : population.sites()) {
    first_.push_back(rows);
    rows += site.weights.size();
  }
  first_.push_back(rows);
  input_ = MatrixXd::Zero(rows, sites_ * colours_);
  targets_.resize(rows, colours_);
  for (Index i = 0; i < sites_; ++i) {
    const MaskedSite& site = population.sites()[static_cast<std::size_t>(i)];
    for (Index n = 0; n < site.weights.size(); ++n) {
      const Index row = first_[static_cast<std::size_t>(i)] + n;
      for (Index j = 0; j < sites_; ++j) {
        if (j != i) input_(row, j + sites_ * site.contexts(n, j)) = 1;
      }
      targets_.row(row) = site.weights[n] / static_cast<double>(sites_) *
                          site.log_conditionals.col(n).array().exp().transpose();
    }
  }
  // Contexts of one site side by side; lanes that are left over weigh nothing.
  for (Index i = 0; i < sites_; ++i) {
    const Index end = first_[static_cast<std::size_t>(i) + 1];
    for (Index row = first_[static_cast<std::size_t>(i)]; row < end; row += kLanes) {
      const Index count = std::min(kLanes, end - row);
      block_sites_.push_back(i);
      for (Index k = 0; k < sites_ * colours_; ++k) {
        Lanes& lanes = lane_inputs_.emplace_back(Lanes::Zero());
        lanes.head(count) = input_.col(k).segment(row, count);
      }
      for (Index a = 0; a < colours_; ++a) {
        Lanes& lanes = lane_targets_.emplace_back(Lanes::Zero());
        lanes.head(count) = targets_.col(a).segment(row, count);
      }
    }
  }
}

namespace {

struct AnyShape {
  static constexpr Index kSites = 0;
  static constexpr Index kColours = 0;
};
struct UsualShape {
  static constexpr Index kSites = 4;
  static constexpr Index kColours = 3;
};

}  // namespace

/// What one block of contexts goes through.
struct DeepPopulation::Work {
  Work(Index layers, Index states, Index colours, Index parameters)
      : x(static_cast<std::size_t>(layers * states)),
        y(x.size()),
        z(x.size()),
        pull_x(static_cast<std::size_t>(states)),
        pull_y(pull_x),
        pull(static_cast<std::size_t>(colours)),
        gradient(static_cast<std::size_t>(parameters), Lanes::Zero()) {}

  std::vector<Lanes> x, y, z;  ///< of every layer: site j of colour c at j + L c; last layer: y, z
                               ///< of the masked site
  std::vector<Lanes> pull_x, pull_y, pull;
  std::vector<Lanes> gradient;  ///< as the parameters
  Lanes excess = Lanes::Zero();
};

template <class Shape>
void DeepPopulation::pass_block(
    std::size_t block, const VectorXd& parameters, Need need, Shape, Work& work) const {
  const Index sites = Shape::kSites > 0 ? Shape::kSites : sites_;
  const Index colours = Shape::kColours > 0 ? Shape::kColours : colours_;
  const Index states = sites * colours;
  const Index size = layer_size(sites, colours);
  const Index depth = parameters.size() / size;
  const Index masked = block_sites_[block];
  std::copy_n(&lane_inputs_[block * static_cast<std::size_t>(states)], states, work.x.data());
  for (Index l = 0; l + 1 < depth; ++l) {
    const double* attention = parameters.data() + l * size;
    const double* values = attention + sites * sites;
    const Lanes* x = work.x.data() + l * states;
    Lanes* y = work.y.data() + l * states;
    Lanes* z = work.z.data() + l * states;
    Lanes* next = work.x.data() + (l + 1) * states;
    for (Index j = 0; j < sites; ++j) {
      for (Index c = 0; c < colours; ++c) {
        Lanes sum = attention[j] * x[sites * c];
        for (Index k = 1; k < sites; ++k) sum += attention[j + sites * k] * x[k + sites * c];
        y[j + sites * c] = sum;
      }
      for (Index a = 0; a < colours; ++a) {
        Lanes sum = values[a] * y[j];
        for (Index c = 1; c < colours; ++c) sum += values[a + colours * c] * y[j + sites * c];
        z[j + sites * a] = sum;
        next[j + sites * a] = sum * sum;
        if (residual_) next[j + sites * a] += x[j + sites * a];
      }
    }
  }
  const double* attention = parameters.data() + (depth - 1) * size;
  const double* values = attention + sites * sites;
  const Lanes* x = work.x.data() + (depth - 1) * states;
  Lanes* y = work.y.data() + (depth - 1) * states;
  Lanes* h = work.z.data() + (depth - 1) * states;
  for (Index c = 0; c < colours; ++c) {
    y[c] = attention[masked] * x[sites * c];
    for (Index k = 1; k < sites; ++k) y[c] += attention[masked + sites * k] * x[k + sites * c];
  }
  Lanes largest = Lanes::Constant(-std::numeric_limits<double>::infinity());
  for (Index a = 0; a < colours; ++a) {
    h[a] = values[a] * y[0];
    for (Index c = 1; c < colours; ++c) h[a] += values[a + colours * c] * y[c];
    largest = largest.max(h[a]);
  }
  const Lanes* targets = &lane_targets_[block * static_cast<std::size_t>(colours)];
  Lanes sum = Lanes::Zero();
  Lanes weight = Lanes::Zero();
  for (Index a = 0; a < colours; ++a) {
    h[a] -= largest;
    work.pull[static_cast<std::size_t>(a)] = h[a].exp();
    sum += work.pull[static_cast<std::size_t>(a)];
    weight += targets[a];
  }
  if (need != Need::gradient) {
    const Lanes log_sum = sum.log();
    for (Index a = 0; a < colours; ++a) work.excess -= targets[a] * (h[a] - log_sum);
    if (need == Need::excess) return;
  }
  // By the logits: the weight times q, less the targets.
  Lanes* pull = work.pull.data();
  const Lanes share = weight / sum;
  for (Index a = 0; a < colours; ++a) pull[a] = pull[a] * share - targets[a];
  Lanes* gradient = work.gradient.data() + (depth - 1) * size;
  Lanes* pull_x = work.pull_x.data();
  Lanes* pull_y = work.pull_y.data();
  for (Index c = 0; c < colours; ++c) {
    Lanes pulled = Lanes::Zero();
    for (Index a = 0; a < colours; ++a) {
      gradient[sites * sites + a + colours * c] += pull[a] * y[c];
      pulled += values[a + colours * c] * pull[a];
    }
    for (Index k = 0; k < sites; ++k) {
      gradient[masked + sites * k] += pulled * x[k + sites * c];
      pull_x[k + sites * c] = attention[masked + sites * k] * pulled;
    }
  }
  for (Index l = depth - 1; l-- > 0;) {
    attention = parameters.data() + l * size;
    values = attention + sites * sites;
    gradient = work.gradient.data() + l * size;
    x = work.x.data() + l * states;
    y = work.y.data() + l * states;
    const Lanes* z = work.z.data() + l * states;
    for (Index j = 0; j < sites; ++j) {
      for (Index a = 0; a < colours; ++a) {
        pull[a] = 2.0 * pull_x[j + sites * a] * z[j + sites * a];
      }
      for (Index c = 0; c < colours; ++c) {
        Lanes pulled = Lanes::Zero();
        for (Index a = 0; a < colours; ++a) {
          gradient[sites * sites + a + colours * c] += pull[a] * y[j + sites * c];
          pulled += values[a + colours * c] * pull[a];
        }
        pull_y[j + sites * c] = pulled;
      }
      for (Index k = 0; k < sites; ++k) {
        Lanes of_pair = pull_y[j] * x[k];
        for (Index c = 1; c < colours; ++c) of_pair += pull_y[j + sites * c] * x[k + sites * c];
        gradient[j + sites * k] += of_pair;
      }
    }
    if (l == 0) break;
    for (Index k = 0; k < sites; ++k) {
      for (Index c = 0; c < colours; ++c) {
        Lanes pulled = Lanes::Zero();
        if (residual_) pulled = pull_x[k + sites * c];
        for (Index j = 0; j < sites; ++j) {
          pulled += attention[j + sites * k] * pull_y[j + sites * c];
        }
        pull_x[k + sites * c] = pulled;
      }
    }
  }
}

DeepPopulation::Work DeepPopulation::pass(const VectorXd& parameters, Need need) const {
  const Index depth = parameters.size() / layer_size(sites_, colours_);
  Work work(depth, sites_ * colours_, colours_, need == Need::excess ? 0 : parameters.size());
  const auto each = [&](auto shape) {
    for (std::size_t b = 0; b < block_sites_.size(); ++b) {
      pass_block(b, parameters, need, shape, work);
    }
  };
  // Loops of the usual size are unrolled.
  if (sites_ == UsualShape::kSites && colours_ == UsualShape::kColours) {
    each(UsualShape());
  } else {
    each(AnyShape());
  }
  return work;
}

// Maps are small and contexts many: products as sums of columns, without the packing of large ones.
DeepPopulation::Pass DeepPopulation::forward(const DeepLayers& layers) const {
  const Index rows = input_.rows();
  const std::size_t depth = layers.size();
  Pass pass{
      std::vector<MatrixXd>(depth), std::vector<MatrixXd>(depth), std::vector<MatrixXd>(depth)};
  pass.x[0] = input_;
  for (std::size_t l = 0; l + 1 < depth; ++l) {
    const FactoredAttention& map = layers[l];
    pass.y[l].resize(rows, sites_ * colours_);
    pass.z[l].resize(rows, sites_ * colours_);
    for (Index c = 0; c < colours_; ++c) {
      pass.y[l].middleCols(c * sites_, sites_).noalias() =
          pass.x[l].middleCols(c * sites_, sites_).lazyProduct(map.attention.transpose());
    }
    // In memory the colours of all sites of all contexts are columns.
    const Eigen::Map<const MatrixXd> y(pass.y[l].data(), rows * sites_, colours_);
    Eigen::Map<MatrixXd>(pass.z[l].data(), rows * sites_, colours_).noalias() =
        y.lazyProduct(map.values.transpose());
    pass.x[l + 1] = pass.z[l].array().square();
    if (residual_) pass.x[l + 1] += pass.x[l];
  }
  MatrixXd& y = pass.y.back();
  y.resize(rows, colours_);
  for (Index i = 0; i < sites_; ++i) {
    const Index first = first_[static_cast<std::size_t>(i)];
    const Index count = first_[static_cast<std::size_t>(i) + 1] - first;
    for (Index c = 0; c < colours_; ++c) {
      y.col(c).segment(first, count).noalias() =
          pass.x.back().block(first, c * sites_, count, sites_) *
          layers.back().attention.row(i).transpose();
    }
  }
  pass.z.back().noalias() = y.lazyProduct(layers.back().values.transpose());
  return pass;
}

double DeepPopulation::excess(const VectorXd& parameters) const {
  return pass(parameters, Need::excess).excess.sum() - bayes_loss_;
}

VectorXd DeepPopulation::gradient(const VectorXd& parameters, double* excess) const {
  const Work work = pass(parameters, excess == nullptr ? Need::gradient : Need::both);
  if (excess != nullptr) *excess = work.excess.sum() - bayes_loss_;
  VectorXd gradient(parameters.size());
  for (Index k = 0; k < gradient.size(); ++k) {
    gradient[k] = work.gradient[static_cast<std::size_t>(k)].sum();
  }
  return gradient;
}

double DeepPopulation::excess(const DeepLayers& layers) const {
  return excess(packed_layers(layers));
}

VectorXd DeepPopulation::gradient(const DeepLayers& layers, double* excess) const {
  return gradient(packed_layers(layers), excess);
}

MatrixXd DeepPopulation::hessian(const DeepLayers& layers) const {
  // Entries are of order one, third derivatives below a thousand: off by less than a per cent of
  // the rates that matter, 0.01 and more.
  constexpr double kStep = 1e-6;
  VectorXd x = packed_layers(layers);
  const VectorXd here = gradient(x);
  MatrixXd h(x.size(), x.size());
  for (Index k = 0; k < x.size(); ++k) {
    const double value = x[k];
    x[k] = value + kStep;
    h.col(k) = (gradient(x) - here) / kStep;
    x[k] = value;
  }
  return (h + h.transpose()) / 2;
}

VectorXd DeepPopulation::logit_gradient(
    const DeepLayers& layers, const Pass& pass, Index site, Index row, Index colour) const {
  DeepLayers gradient(layers.size());
  MatrixXd pull = MatrixXd::Zero(sites_, colours_);
  pull(site, colour) = 1;
  MatrixXd pull_x = MatrixXd::Zero(sites_, colours_);
  for (std::size_t l = layers.size(); l-- > 0;) {
    const MatrixXd x = pass.x[l].row(row).reshaped(sites_, colours_);
    const MatrixXd pull_y = pull * layers[l].values;
    gradient[l].attention = pull_y * x.transpose();
    gradient[l].values = pull.transpose() * (layers[l].attention * x);
    if (l == 0) break;
    if (!residual_) pull_x.setZero();
    pull_x += layers[l].attention.transpose() * pull_y;
    pull = 2 * pull_x.cwiseProduct(pass.z[l - 1].row(row).reshaped(sites_, colours_));
  }
  return packed_layers(gradient);
}

MatrixXd DeepPopulation::gradient_covariance(const DeepLayers& layers) const {
  const Pass pass = forward(layers);
  const Index size = packed_layers(layers).size();
  MatrixXd roots(size, input_.rows() * colours_);  // gradients times the roots of their weights
  VectorXd mean = VectorXd::Zero(size);
  MatrixXd by_logits(size, colours_);
  for (Index i = 0; i < sites_; ++i) {
    for (Index n = first_[static_cast<std::size_t>(i)]; n < first_[static_cast<std::size_t>(i) + 1];
         ++n) {
      for (Index a = 0; a < colours_; ++a) by_logits.col(a) = logit_gradient(layers, pass, i, n, a);
      const VectorXd h = pass.z.back().row(n);
      VectorXd q = (h.array() - h.maxCoeff()).exp();
      q /= q.sum();
      const VectorXd expected = by_logits * q;
      for (Index a = 0; a < colours_; ++a) {
        auto column = roots.col(n * colours_ + a);
        column = expected - by_logits.col(a);  // gradient of -ln q_a
        mean += targets_(n, a) * column;
        column *= std::sqrt(targets_(n, a));
      }
    }
  }
  return roots * roots.transpose() - mean * mean.transpose();
}

namespace {

/// Covariance and mean of the deviations from the descent.
class ModeDeviations {
 public:
  ModeDeviations(const DeepPopulation& population, double batch, Index size)
      : population_(population),
        batch_(batch),
        covariance_(MatrixXd::Zero(size, size)),
        mean_(VectorXd::Zero(size)) {}

  const MatrixXd& covariance() const { return covariance_; }
  const VectorXd& mean() const { return mean_; }
  double sharpness() const { return sharpness_; }
  double growth() const { return growth_; }

  /// `count` steps at a rate, H and K taken at x: halfway between the first and the last point that
  /// a step leaves.
  void advance(const VectorXd& x, double rate, double count) {
    const DeepLayers layers = unpacked_layers(x, population_.sites(), population_.colours());
    const Eigen::SelfAdjointEigenSolver<MatrixXd> h(population_.hessian(layers));
    const MatrixXd& u = h.eigenvectors();
    sharpness_ = h.eigenvalues().maxCoeff();
    growth_ = -h.eigenvalues().minCoeff();
    const VectorXd ratio = 1 - rate * h.eigenvalues().array();
    const MatrixXd before = u.transpose() * covariance_ * u;
    const MatrixXd noise =
        rate * rate / batch_ * (u.transpose() * population_.gradient_covariance(layers) * u);
    const MatrixXd ratios = ratio * ratio.transpose();
    const MatrixXd after =
        ratios.array().pow(count) * before.array() +
        noise.array() * ratios.unaryExpr([&](double r) { return geometric_sum(r, count); }).array();
    const double part = (count - 1) / (2 * count);
    const MatrixXd between = u * (before + part * (after - before)) * u.transpose();
    const VectorXd drift = u.transpose() * curvature_gradient(x, between);
    const VectorXd sums = ratio.unaryExpr([&](double r) { return geometric_sum(r, count); });
    const VectorXd mean = ratio.array().pow(count) * (u.transpose() * mean_).array() -
                          rate / 2 * drift.array() * sums.array();
    covariance_ = u * after * u.transpose();
    mean_ = u * mean;
  }

  /// The mean excess loss, to first order.
  NoisyValue excess_loss(const VectorXd& x, double value, const VectorXd& gradient) const {
    NoisyValue out{.value = value,
                   .shift = gradient.dot(mean_),
                   .variance = gradient.dot(covariance_ * gradient)};
    along_axes(covariance_, [&](const VectorXd& step, double factor) {  // + tr(H C)/2
      out.shift += factor / 2 * (loss(x + step) + loss(x - step) - 2 * value);
    });
    return out;
  }

 private:
  double loss(const VectorXd& x) const { return population_.excess(x); }
  VectorXd gradient(const VectorXd& x) const { return population_.gradient(x); }

  /// Calls visit(step, factor) for small steps along the axes of a covariance, so that the sum of
  /// factor f''(step, step) is tr(f'' C), but for a thousandth of tr C.
  template <class Visit>
  static void along_axes(const MatrixXd& covariance, Visit&& visit) {
    constexpr double kStep = 1e-3;
    constexpr double kRest = 1e-3;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> axes(covariance);
    const VectorXd& widths = axes.eigenvalues();
    double left = widths.cwiseMax(0.0).sum();
    const double rest = kRest * left;
    for (Index k = widths.size(); k-- > 0 && widths[k] > 0 && left > rest;) {
      visit(VectorXd(kStep * axes.eigenvectors().col(k)), widths[k] / (kStep * kStep));
      left -= widths[k];
    }
  }

  /// grad tr(H C)
  VectorXd curvature_gradient(const VectorXd& x, const MatrixXd& covariance) const {
    const VectorXd here = gradient(x);
    VectorXd sum = VectorXd::Zero(x.size());
    along_axes(covariance, [&](const VectorXd& step, double factor) {
      sum += factor * (gradient(x + step) + gradient(x - step) - 2 * here);
    });
    return sum;
  }

  const DeepPopulation& population_;
  double batch_;
  MatrixXd covariance_;
  VectorXd mean_;
  double sharpness_ = 0;
  double growth_ = 0;
};

/// MSD_l of every layer.
std::vector<NoisyValue> displacements(const VectorXd& moved,
                                      Index sites,
                                      Index colours,
                                      const ModeDeviations& deviations) {
  std::vector<NoisyValue> all;
  for (Index at = 0; at < moved.size(); at += layer_size(sites, colours)) {
    NoisyValue& msd = all.emplace_back();
    VectorXd slope = VectorXd::Zero(moved.size());
    for (const auto& [first, width] :
         {std::pair(at, sites), std::pair(at + sites * sites, colours)}) {
      const Index size = width * width;
      const auto share = static_cast<double>(width);
      slope.segment(first, size) = 2 / share * moved.segment(first, size);
      msd.value += moved.segment(first, size).squaredNorm() / share;
      msd.shift += deviations.covariance().diagonal().segment(first, size).sum() / share;
    }
    msd.shift += slope.dot(deviations.mean());
    msd.variance = slope.dot(deviations.covariance() * slope);
  }
  return all;
}

}  // namespace

std::vector<DeepDescentRecord> deep_descent(const DeepPopulation& population,
                                            const DeepDescentPlan& plan) {
  constexpr double kFar = 0.1;   // of the path between two Hessians
  constexpr double kEdge = 2.0;  // of stability
  constexpr double kClipped = 0.5;
  require(!plan.start.empty(), "start", 0, "at least one layer");
  require(plan.batch >= 1, "batch", plan.batch, "at least 1");
  require(!plan.recorded.empty(), "recorded", 0, "at least one step");
  const VectorXd start = packed_layers(plan.start);
  VectorXd x = start;
  ModeDeviations deviations(population, plan.batch, x.size());
  std::vector<DeepDescentRecord> records;
  VectorXd corner = x;  // of the path, at the step since which deviations have not advanced
  VectorXd last = x;    // at the step before this one
  std::uint64_t corner_step = 0;
  double corner_rate = plan.rate(0);
  bool described = true;
  for (std::uint64_t step = 0;; ++step) {
    const bool recorded = step == plan.recorded[records.size()];
    double excess = 0;
    const VectorXd gradient = population.gradient(x, recorded ? &excess : nullptr);
    if (!std::isfinite(excess) || !std::isfinite(gradient.sum())) return records;
    const double rate = plan.rate(step);
    if (step > corner_step && (recorded || rate != corner_rate || (x - corner).norm() > kFar)) {
      if (described) {
        deviations.advance(
            (corner + last) / 2, corner_rate, static_cast<double>(step - corner_step));
        described = corner_rate * deviations.sharpness() < kEdge;
      }
      corner = x;
      corner_step = step;
    }
    corner_rate = rate;
    const double length = gradient.norm();
    if (plan.clip_norm > 0 && length > kClipped * plan.clip_norm) described = false;
    if (recorded) {
      records.push_back({.step = step,
                         .excess_loss = deviations.excess_loss(x, excess, gradient),
                         .displacement = displacements(
                             x - start, population.sites(), population.colours(), deviations),
                         .sharpness = deviations.sharpness(),
                         .growth = deviations.growth(),
                         .described = described});
      if (records.size() == plan.recorded.size()) return records;
    }
    const bool clipped = plan.clip_norm > 0 && length > plan.clip_norm;
    last = x;
    x -= rate * (clipped ? plan.clip_norm / length : 1) * gradient;
  }
}

}  // namespace attica
