#include "attica/sim/networks/optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attica/core/error.hpp"

namespace attica::networks {
namespace {

/// What one block's update needs, in the precision of the parameters.
template <class T>
struct Rates {
  T gradient_factor;  ///< from clipping
  T learning_rate;
  T coupled_decay;  ///< added to the gradient, times p
  T shrink;         ///< p is first multiplied by it (decoupled decay)
};

template <class T>
void sgd(Index n, const T* __restrict g, T* __restrict p, const Rates<T>& r) {
  for (Index i = 0; i < n; ++i) {
    p[i] = r.shrink * p[i] - r.learning_rate * (r.gradient_factor * g[i] + r.coupled_decay * p[i]);
  }
}

template <class T>
void heavy_ball(Index n,
                const T* __restrict g,
                T* __restrict m,
                T* __restrict p,
                T momentum,
                const Rates<T>& r) {
  for (Index i = 0; i < n; ++i) {
    m[i] = momentum * m[i] + (r.gradient_factor * g[i] + r.coupled_decay * p[i]);
    p[i] = r.shrink * p[i] - r.learning_rate * m[i];
  }
}

/// learning_rate holds eta / (1 - beta1^t); second_correction 1 / sqrt(1 - beta2^t).
template <class T>
void adam(Index n,
          const T* __restrict g,
          T* __restrict m,
          T* __restrict v,
          T* __restrict p,
          T beta1,
          T beta2,
          T epsilon,
          T second_correction,
          const Rates<T>& r) {
  for (Index i = 0; i < n; ++i) {
    const T gradient = r.gradient_factor * g[i] + r.coupled_decay * p[i];
    m[i] = beta1 * m[i] + (1 - beta1) * gradient;
    v[i] = beta2 * v[i] + (1 - beta2) * gradient * gradient;
    p[i] =
        r.shrink * p[i] - r.learning_rate * m[i] / (second_correction * std::sqrt(v[i]) + epsilon);
  }
}

}  // namespace

double Schedule::operator()(std::uint64_t n) const {
  if (kind == Kind::constant || n < start) return 1;
  if (kind == Kind::step) return factor;
  if (n >= length) return 0;
  const auto done = static_cast<double>(n - start) / static_cast<double>(length - start);
  return 0.5 * (1 + std::cos(std::numbers::pi * done));
}

void validate(const OptimiserOptions& o) {
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  const auto not_negative = [](double x) { return x >= 0 && std::isfinite(x); };
  require(positive(o.learning_rate), "learning_rate", o.learning_rate, "positive");
  require(o.momentum >= 0 && o.momentum < 1, "momentum", o.momentum, "0 <= momentum < 1");
  require(o.beta1 >= 0 && o.beta1 < 1, "beta1", o.beta1, "0 <= beta1 < 1");
  require(o.beta2 >= 0 && o.beta2 < 1, "beta2", o.beta2, "0 <= beta2 < 1");
  require(positive(o.epsilon), "epsilon", o.epsilon, "positive");
  require(not_negative(o.weight_decay), "weight_decay", o.weight_decay, "at least 0");
  require(not_negative(o.clip_norm), "clip_norm", o.clip_norm, "at least 0 (0: no clipping)");
  require(not_negative(o.schedule.factor), "schedule.factor", o.schedule.factor, "at least 0");
  if (o.schedule.kind == Schedule::Kind::cosine_tail) {
    require(o.schedule.start < o.schedule.length,
            "schedule.start",
            static_cast<double>(o.schedule.start),
            "less than schedule.length");
  }
}

template <class T>
Optimiser<T>::Optimiser(const Parameters<T>& parameters, const OptimiserOptions& options)
    : options_(options) {
  validate(options);
  const std::size_t size = parameters.values().size();
  if (options.kind != OptimiserKind::sgd) first_.assign(size, T(0));
  if (options.kind == OptimiserKind::adam) second_.assign(size, T(0));
}

template <class T>
void Optimiser<T>::reset() {
  updates_ = 0;
  std::ranges::fill(first_, T(0));
  std::ranges::fill(second_, T(0));
}

template <class T>
double Optimiser<T>::update(Parameters<T>& parameters,
                            std::span<const T> gradient,
                            std::uint64_t n) {
  double norm2 = 0;
  for (const Block& b : parameters.blocks()) {
    if (!b.frozen) {
      norm2 += static_cast<double>(
          ArrayMap<const T>(gradient.data() + b.offset, b.size()).square().sum());
    }
  }
  const double norm = std::sqrt(norm2);
  if (!std::isfinite(norm)) return norm;
  ++updates_;

  const OptimiserOptions& o = options_;
  const double clip = o.clip_norm > 0 && norm > o.clip_norm ? o.clip_norm / norm : 1;
  const auto t = static_cast<double>(updates_);
  const double first_correction = o.kind == OptimiserKind::adam ? 1 - std::pow(o.beta1, t) : 1;
  const double second_correction = 1 / std::sqrt(1 - std::pow(o.beta2, t));
  for (const Block& b : parameters.blocks()) {
    if (b.frozen) continue;
    const double rate = o.learning_rate * o.schedule(n) * b.learning_rate_factor;
    const double decay = o.weight_decay * b.decay_factor;
    const Rates<T> rates{.gradient_factor = static_cast<T>(clip),
                         .learning_rate = static_cast<T>(rate / first_correction),
                         .coupled_decay = static_cast<T>(o.decoupled_decay ? 0 : decay),
                         .shrink = static_cast<T>(o.decoupled_decay ? 1 - rate * decay : 1)};
    T* p = parameters.values().data() + b.offset;
    const T* g = gradient.data() + b.offset;
    switch (o.kind) {
      case OptimiserKind::sgd:
        sgd(b.size(), g, p, rates);
        break;
      case OptimiserKind::heavy_ball:
        heavy_ball(b.size(), g, first_.data() + b.offset, p, static_cast<T>(o.momentum), rates);
        break;
      case OptimiserKind::adam:
        adam(b.size(),
             g,
             first_.data() + b.offset,
             second_.data() + b.offset,
             p,
             static_cast<T>(o.beta1),
             static_cast<T>(o.beta2),
             static_cast<T>(o.epsilon),
             static_cast<T>(second_correction),
             rates);
        break;
    }
  }
  return norm;
}

template class Optimiser<float>;
template class Optimiser<double>;

}  // namespace attica::networks
