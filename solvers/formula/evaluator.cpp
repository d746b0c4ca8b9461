#include "attica/solvers/formula/evaluator.hpp"

#include <fmt/format.h>
#include <gsl/gsl_integration.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <boost/math/differentiation/finite_difference.hpp>
#include <boost/math/tools/minima.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <optional>
#include <utility>

#include "attica/core/error.hpp"
#include "attica/solvers/gsl.hpp"

namespace attica::formula {
namespace {

constexpr std::size_t kLanes = 256;    // numbers that are computed side by side
constexpr std::size_t kBlocks = 2048;  // of them, at once: as deep as a tree is, and then some
constexpr std::size_t kFewestNodes = 16;
constexpr std::size_t kMostPairNodes = 256;  // a side
constexpr double kWidest = 0.6;              // step of the coarsest trapezoidal rule
constexpr int kFinest = 5;                   // how often it is halved
constexpr double kTail = 12;                 // of a standard normal: beyond lie 1e-32
constexpr double kFarTail = 37;              // beyond lies less than the smallest number
constexpr std::size_t kIntervals = 1000;
constexpr double kMostTerms = 1e7;
constexpr std::uint64_t kLook = 1'000'000;  // evaluations between looks at the clock
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Column = Eigen::Map<Eigen::ArrayXd>;
using ConstColumn = Eigen::Map<const Eigen::ArrayXd>;

struct HermiteRule {
  std::vector<double> x;
  std::vector<double> weight;
};

/// Nodes and weights of E f(z), z standard normal; made once.
const HermiteRule& hermite(std::size_t n) {
  static std::mutex guard;
  static std::map<std::size_t, HermiteRule> rules;
  const std::scoped_lock lock(guard);
  HermiteRule& rule = rules[n];
  if (!rule.x.empty()) return rule;
  disable_gsl_handler();
  const std::unique_ptr<gsl_integration_fixed_workspace, decltype(&gsl_integration_fixed_free)> w(
      gsl_integration_fixed_alloc(gsl_integration_fixed_hermite, n, 0, 0.5, 0, 0),
      gsl_integration_fixed_free);
  if (!w) check_gsl(GSL_ENOMEM, "Gauss-Hermite nodes");
  const double* const x = gsl_integration_fixed_nodes(w.get());
  const double* const weight = gsl_integration_fixed_weights(w.get());
  double total = 0;
  for (std::size_t k = 0; k < n; ++k) total += weight[k];
  for (std::size_t k = 0; k < n; ++k) {
    // Far out weights are below the smallest number.
    if (!(weight[k] / total > 0)) continue;
    rule.x.push_back(x[k]);
    rule.weight.push_back(weight[k] / total);
  }
  return rule;
}

/// Nodes and weights of E f(z), z standard normal, by the trapezoidal rule: what the normal density
/// makes of it converges faster than any power of the step, and for a function that is smooth near
/// the real line faster than Gauss-Hermite (Trefethen and Weideman 2014). Nodes of a step, then
/// those that halve it, and so on; none of them is 0, where formulas may be 0/0. What oscillates
/// once from node to node looks constant: nodes at another `offset` show it.
struct TrapezoidalRule {
  double end = 0;  ///< nodes reach from -end to end
  std::size_t coarsest = 0;
  std::vector<double> x = {};
  std::vector<double> density = {};
  /// For each step, the nodes moved by a part of it, with their weights in the average.
  struct Moved {
    std::vector<double> x = {};
    std::vector<double> weights = {};
  };
  std::array<Moved, kFinest> moved = {};

  TrapezoidalRule(int half, double offset) : end(half * kWidest) {
    for (int k = -half; k < half; ++k) x.push_back(kWidest * (k + offset));
    coarsest = x.size();
    double step = kWidest;
    for (int level = 1; level <= kFinest; ++level, step /= 2) {
      const std::size_t n = x.size();
      for (std::size_t k = 0; k < n; ++k) x.push_back(x[k] + step / 2);
    }
    const auto density_at = [](double z) {
      return std::exp(-0.5 * z * z) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    };
    for (const double z : x) density.push_back(density_at(z));
    constexpr double kMoved = 0.225;  // no even wave has the same phase again
    step = kWidest;
    std::size_t n = coarsest;
    for (Moved& one : moved) {
      for (std::size_t k = 0; k < n; ++k) {
        one.x.push_back(x[k] + kMoved * step);
        one.weights.push_back(step * density_at(one.x.back()));
      }
      step /= 2;
      n *= 2;
    }
  }
};

/// By range: the first reaches as far as a bounded function needs.
/// @param second nodes of the second evaluation, which are others
const std::vector<TrapezoidalRule>& trapezoidal(bool second) {
  const auto made = [](double offset) {
    std::vector<TrapezoidalRule> rules;
    for (const int half : {16, 20, 30, 45, 60}) rules.emplace_back(half, offset);
    return rules;
  };
  static const std::vector<TrapezoidalRule> kFirst = made(1.0 / 3), kSecond = made(0.11);
  return second ? kSecond : kFirst;
}

/// tanh of many numbers: the rational approximation of Cephes (Moshier 1984) below 0.625, and
/// 1 - 2/(exp(2x) + 1); within 2 units in the last place.
template <class In, class Out>
void hyperbolic_tangent(const In& x, Out&& out) {
  constexpr double kSmall = 0.625;
  out = (2 * x).exp();
  // Without Eigen's select, which would do all of it one number at a time.
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const double v = x[k], square = v * v;
    const double above = (-9.64399179425052238628e-1 * square - 9.92877231001918586564e1) * square -
                         1.61468768441708447952e3;
    const double below =
        ((square + 1.12811678491632931402e2) * square + 2.23548839060100448583e3) * square +
        4.84406305325125486048e3;
    const bool small = std::abs(v) < kSmall;
    const double numerator = small ? v * square * above : -2;
    const double denominator = small ? below : out[k] + 1;
    out[k] = (small ? v : 1) + numerator / denominator;
  }
}

double density(double z) {
  return std::exp(-0.5 * z * z) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

/// Places at which a minimum or a change of sign is looked for between a and b.
std::vector<double> places_between(double a, double b) {
  constexpr int kFinite = 64;
  constexpr int kOneSided = 60;
  constexpr double kFarthest = 15;  // sinh(15) = 1.6e6
  std::vector<double> x;
  if (std::isfinite(a) && std::isfinite(b)) {
    for (int k = 0; k <= kFinite; ++k) x.push_back(a + (b - a) * k / kFinite);
    x.back() = b;
  } else if (std::isfinite(a) || std::isfinite(b)) {
    // From the finite end on, finely first.
    const double end = std::isfinite(a) ? a : b, sign = std::isfinite(a) ? 1 : -1;
    x.push_back(end);
    for (int k = 1; k <= 2 * kOneSided; ++k) {
      const double t = kFarthest * k / kOneSided - kFarthest;  // -15 ... 15
      x.push_back(end + sign * std::exp(t));
    }
    if (sign < 0) std::reverse(x.begin(), x.end());
    x.erase(std::unique(x.begin(), x.end()), x.end());
  } else {
    for (int k = -kOneSided; k <= kOneSided; ++k) x.push_back(std::sinh(kFarthest * k / kOneSided));
  }
  return x;
}

}  // namespace

struct Evaluator::Workspace {
  std::size_t nodes = kFewestNodes;  ///< of the last average of a pair: where the next one begins
  int level = 1;                     ///< of the last average: how often the step was halved
  std::size_t range = 0;             ///< its rule
  bool adaptive = false;
  bool looked = false;  ///< whether an average was the same at nodes that were moved
  std::unique_ptr<gsl_integration_workspace, decltype(&gsl_integration_workspace_free)> intervals{
      nullptr, gsl_integration_workspace_free};
  std::unique_ptr<gsl_integration_cquad_workspace, decltype(&gsl_integration_cquad_workspace_free)>
      ends{nullptr, gsl_integration_cquad_workspace_free};
  std::unique_ptr<Workspace> inner = {};  ///< of the second name of a pair
  std::vector<double> x = {};
  std::vector<double> f = {};
  double low = 0, high = 0;  ///< ends between which x are places
  double largest = 0;        ///< of what quadrature met, absolute
  double at_largest = 0;     ///< where that was
  double from = 0, to = 0;  ///< ends of the interval of quadrature around that place, see places_of
  int looks = 0;            ///< of root: how often further zeros were looked for
};

/// An index that runs over given numbers, as long as it lives.
class Evaluator::Lanes {
 public:
  Lanes(Evaluator& e, int slot, const double* x, std::size_t n)
      : e_(e), slot_(e.lane_slot_), x_(e.lane_), n_(e.lanes_), top_(e.top_) {
    e.lane_slot_ = slot;
    e.lane_ = x;
    e.lanes_ = n;
  }
  ~Lanes() {
    e_.lane_slot_ = slot_;
    e_.lane_ = x_;
    e_.lanes_ = n_;
    e_.top_ = top_;
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

 private:
  Evaluator& e_;
  int slot_;
  const double* x_;
  std::size_t n_;
  std::size_t top_;
};

/// The rounding of averages and integrals inside of one, as long as it lives: where they cancel,
/// what is averaged is no larger than their rounding.
class Evaluator::Noise {
 public:
  explicit Noise(Evaluator& e) : e_(e), outside_(e.noise_) { e_.noise_ = 0; }
  ~Noise() { e_.noise_ = std::max(outside_, std::max(own_, e_.noise_)); }
  Noise(const Noise&) = delete;
  Noise& operator=(const Noise&) = delete;
  double inside() const { return e_.noise_; }
  /// @param absolute the average of the absolute value
  /// @param error known to be larger than rounding
  void end(double absolute, double error = 0) const {
    own_ = std::max(kRounding * absolute, error);
  }

 private:
  static constexpr double kRounding = 4e-16;
  Evaluator& e_;
  double outside_;
  mutable double own_ = 0;
};

Evaluator::Evaluator(const Sheet& sheet, const Effort& effort)
    : sheet_(sheet),
      effort_(effort),
      values_(sheet.slots(), 0.0),
      lists_(static_cast<std::size_t>(sheet.lists())),
      workspaces_(static_cast<std::size_t>(sheet.states())),
      begin_(std::chrono::steady_clock::now()) {
  disable_gsl_handler();
  for (const auto& [slot, number] : sheet.constants())
    values_[static_cast<std::size_t>(slot)] = number;
}
Evaluator::~Evaluator() = default;

void Evaluator::fail(const Code& c, const std::string& what) const {
  throw Error(ErrorKind::numerical, fmt::format("{}: {}", c.text, what));
}

void Evaluator::remark(const std::string& text) {
  if (std::find(remarks_.begin(), remarks_.end(), text) == remarks_.end()) remarks_.push_back(text);
}

void Evaluator::spend(std::uint64_t evaluations) {
  evaluations_ += evaluations;
  if (evaluations_ < next_look_) return;
  next_look_ = std::min(evaluations_ + kLook, effort_.evaluations + 1);
  if (evaluations_ > effort_.evaluations) {
    next_look_ = 0;
    throw Error(ErrorKind::numerical,
                fmt::format("more than {} evaluations inside averages, sums and roots",
                            effort_.evaluations));
  }
  if (effort_.seconds <= 0) return;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  if (passed.count() > effort_.seconds) {
    next_look_ = 0;  // so is every later one
    throw Error(ErrorKind::numerical,
                fmt::format("more than the {} s that max_seconds allows", effort_.seconds));
  }
}

Evaluator::Workspace& Evaluator::workspace(const Code& c) {
  auto& made = workspaces_[static_cast<std::size_t>(c.state)];
  if (!made) made = std::make_unique<Workspace>();
  return *made;
}

double* Evaluator::take() {
  if (top_ >= kBlocks)
    throw Error(ErrorKind::numerical, "formulas inside averages are nested too deeply");
  if (top_ >= room_.size()) room_.push_back(std::make_unique<double[]>(kLanes));
  return room_[top_++].get();
}

// ------------------------------------------------------------------------------ one number at once

double Evaluator::element(const Code& c, double index) const {
  const bool list = c.op == Op::list_element;
  const std::size_t size = list ? lists_[static_cast<std::size_t>(c.slot)].values.size()
                                : static_cast<std::size_t>(c.size);
  const double nearest = std::round(index);
  constexpr double kWhole = 1e-6;
  if (!(std::abs(index - nearest) < kWhole) || nearest < 1 || nearest > static_cast<double>(size))
    throw Error(ErrorKind::numerical,
                fmt::format("{}[{}]: expected an index from 1 to {}", c.text, index, size));
  const auto k = static_cast<std::size_t>(nearest) - 1;
  return list ? lists_[static_cast<std::size_t>(c.slot)].values[k]
              : values_[static_cast<std::size_t>(c.slot) + k];
}

double Evaluator::scalar(int number) {
  const Code& c = sheet_.codes()[static_cast<std::size_t>(number)];
  const auto part = [&](std::size_t k) { return scalar(c.parts[k]); };
  switch (c.op) {
    case Op::number:
      return c.number;
    case Op::variable:
      return values_[static_cast<std::size_t>(c.slot)];
    case Op::element:
    case Op::list_element:
      return element(c, part(0));
    case Op::negative:
      return -part(0);
    case Op::add: {
      const double a = part(0);
      return a + part(1);
    }
    case Op::subtract: {
      const double a = part(0);
      return a - part(1);
    }
    case Op::multiply: {
      const double a = part(0);
      return a * part(1);
    }
    case Op::divide: {
      const double a = part(0);
      return a / part(1);
    }
    case Op::power: {
      const double a = part(0);
      if (c.small_power != 0) return small_power(a, c.small_power);
      return std::pow(a, part(1));
    }
    case Op::less:
      return part(0) < part(1);
    case Op::less_equal:
      return part(0) <= part(1);
    case Op::greater:
      return part(0) > part(1);
    case Op::greater_equal:
      return part(0) >= part(1);
    case Op::equal:
      return part(0) == part(1);
    case Op::different:
      return part(0) != part(1);
    case Op::both:
      return part(0) != 0 && part(1) != 0;
    case Op::either:
      return part(0) != 0 || part(1) != 0;
    case Op::choice:
      return part(0) != 0 ? part(1) : part(2);
    case Op::function:
      return c.function(part(0));
    case Op::atan2: {
      const double a = part(0);
      return std::atan2(a, part(1));
    }
    case Op::minimum: {
      double best = part(0);
      for (std::size_t k = 1; k < c.parts.size(); ++k) best = std::min(best, part(k));
      return best;
    }
    case Op::maximum: {
      double best = part(0);
      for (std::size_t k = 1; k < c.parts.size(); ++k) best = std::max(best, part(k));
      return best;
    }
    case Op::total:
    case Op::average: {
      double total = 0;
      for (std::size_t k = 0; k < c.parts.size(); ++k) total += part(k);
      return c.op == Op::total ? total : total / static_cast<double>(c.parts.size());
    }
    default:
      return binder(number);
  }
}

namespace {

using Pair = EvaluatorPair::Pair;

/// f of one number or pair of each argument.
template <class F, class... Rest>
double apart(F f, double a, Rest... rest) {
  return f(a, rest...);
}
template <class F, class... Rest>
Pair apart(F f, const Pair& a, const Rest&... rest) {
  return {f(a[0], rest[0]...), f(a[1], rest[1]...)};
}
double square_root(double x) { return std::sqrt(x); }
Pair square_root(const Pair& x) { return x.sqrt(); }

/// @param v numbers or pairs, by places
template <class V>
void run(const Program& program, V* const v) {
  using Do = Instruction::Do;
  for (const Instruction& i : program.instructions) {
    const V a = v[i.a];
    V& to = v[i.to];
    switch (i.what) {
      case Do::negative:
        to = -a;
        break;
      case Do::add:
        to = a + v[i.b];
        break;
      case Do::subtract:
        to = a - v[i.b];
        break;
      case Do::multiply:
        to = a * v[i.b];
        break;
      case Do::divide:
        to = a / v[i.b];
        break;
      case Do::square:
        to = a * a;
        break;
      case Do::cube:
        to = a * a * a;
        break;
      case Do::fourth:
        to = (a * a) * (a * a);
        break;
      case Do::root:
        to = square_root(a);
        break;
      case Do::inverse_root:
        to = 1 / square_root(a);
        break;
      case Do::inverse:
        to = 1 / a;
        break;
      case Do::power:
        to = apart([](double x, double y) { return std::pow(x, y); }, a, v[i.b]);
        break;
      case Do::less:
        to = apart([](double x, double y) { return double(x < y); }, a, v[i.b]);
        break;
      case Do::less_equal:
        to = apart([](double x, double y) { return double(x <= y); }, a, v[i.b]);
        break;
      case Do::greater:
        to = apart([](double x, double y) { return double(x > y); }, a, v[i.b]);
        break;
      case Do::greater_equal:
        to = apart([](double x, double y) { return double(x >= y); }, a, v[i.b]);
        break;
      case Do::equal:
        to = apart([](double x, double y) { return double(x == y); }, a, v[i.b]);
        break;
      case Do::different:
        to = apart([](double x, double y) { return double(x != y); }, a, v[i.b]);
        break;
      case Do::both:
        to = apart([](double x, double y) { return double(x != 0 && y != 0); }, a, v[i.b]);
        break;
      case Do::either:
        to = apart([](double x, double y) { return double(x != 0 || y != 0); }, a, v[i.b]);
        break;
      case Do::choice:
        to = apart([](double x, double y, double z) { return x != 0 ? y : z; }, a, v[i.b], v[i.c]);
        break;
      case Do::minimum:
        to = apart([](double x, double y) { return std::min(x, y); }, a, v[i.b]);
        break;
      case Do::maximum:
        to = apart([](double x, double y) { return std::max(x, y); }, a, v[i.b]);
        break;
      case Do::atan2:
        to = apart([](double x, double y) { return std::atan2(x, y); }, a, v[i.b]);
        break;
      case Do::function:
        to = apart(i.function, a);
        break;
    }
  }
}

}  // namespace

double Evaluator::binder(int number) {
  const Code& c = sheet_.codes()[static_cast<std::size_t>(number)];
  switch (c.op) {
    case Op::normal:
      return normal(c);
    case Op::normal_pair:
      return normal_pair(c);
    case Op::integral:
      return integral(c);
    case Op::mean:
      return mean(c);
    case Op::sum:
      return sum(c);
    case Op::root:
      return root(c);
    case Op::argmin:
      return argmin(c);
    default:
      return slope(c);
  }
}

// --------------------------------------------------------------------------- many numbers at once

template <class F>
Evaluator::Block Evaluator::pairwise(const Code& c, F f) {
  double* const out = take();
  const std::size_t mine = top_;
  const Block a = block(c.parts[0]);
  const Block b = block(c.parts[1]);
  if (!a.many && !b.many) {
    top_ = mine - 1;
    double result = 0;
    f(Eigen::Map<const Eigen::Array<double, 1, 1>>(&a.one),
      Eigen::Map<const Eigen::Array<double, 1, 1>>(&b.one),
      Eigen::Map<Eigen::Array<double, 1, 1>>(&result));
    return {false, result, nullptr};
  }
  const auto n = static_cast<Eigen::Index>(lanes_);
  Column to(out, n);
  if (a.many && b.many) {
    f(ConstColumn(a.all, n), ConstColumn(b.all, n), to);
  } else if (a.many) {
    f(ConstColumn(a.all, n), Eigen::ArrayXd::Constant(n, b.one), to);
  } else {
    f(Eigen::ArrayXd::Constant(n, a.one), ConstColumn(b.all, n), to);
  }
  top_ = mine;
  return {true, 0, out};
}

/// Whatever is not done side by side: every number of the index in turn.
template <class F>
Evaluator::Block Evaluator::one_by_one(const Code& c, F f) {
  double* const out = take();
  const std::size_t mine = top_;
  bool many = false;
  constexpr std::size_t kMostParts = 8;
  std::array<Block, kMostParts> parts;
  const std::size_t count = std::min(c.parts.size(), kMostParts);
  for (std::size_t k = 0; k < count; ++k) {
    parts[k] = block(c.parts[k]);
    many = many || parts[k].many;
  }
  std::array<double, kMostParts> arguments{};
  const auto load = [&](std::size_t lane) {
    for (std::size_t k = 0; k < count; ++k)
      arguments[k] = parts[k].many ? parts[k].all[lane] : parts[k].one;
  };
  if (!many) {
    top_ = mine - 1;
    load(0);
    return {false, f(arguments), nullptr};
  }
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    load(lane);
    out[lane] = f(arguments);
  }
  top_ = mine;
  return {true, 0, out};
}

Evaluator::Block Evaluator::block(int number) {
  const Code& c = sheet_.codes()[static_cast<std::size_t>(number)];
  const auto each_scalar = [&]() -> Block {
    double* const out = take();
    for (std::size_t lane = 0; lane < lanes_; ++lane) {
      values_[static_cast<std::size_t>(lane_slot_)] = lane_[lane];
      out[lane] = scalar(number);
    }
    return {true, 0, out};
  };
  const auto column = [&](std::size_t k, auto f) -> Block {
    double* const out = take();
    const std::size_t mine = top_;
    const Block a = block(c.parts[k]);
    top_ = mine;
    if (!a.many) {
      top_ = mine - 1;
      double result = 0;
      f(Eigen::Map<const Eigen::Array<double, 1, 1>>(&a.one),
        Eigen::Map<Eigen::Array<double, 1, 1>>(&result));
      return {false, result, nullptr};
    }
    const auto n = static_cast<Eigen::Index>(lanes_);
    f(ConstColumn(a.all, n), Column(out, n));
    return {true, 0, out};
  };
  using Arguments = std::array<double, 8>;
  switch (c.op) {
    case Op::number:
      return {false, c.number, nullptr};
    case Op::variable:
      if (c.slot == lane_slot_) return {true, 0, lane_};
      return {false, values_[static_cast<std::size_t>(c.slot)], nullptr};
    case Op::element:
    case Op::list_element:
      return one_by_one(c, [&](const Arguments& x) { return element(c, x[0]); });
    case Op::negative:
      return column(0, [](const auto& a, auto&& out) { out = -a; });
    case Op::add:
      return pairwise(c, [](const auto& a, const auto& b, auto&& out) { out = a + b; });
    case Op::subtract:
      return pairwise(c, [](const auto& a, const auto& b, auto&& out) { out = a - b; });
    case Op::multiply:
      return pairwise(c, [](const auto& a, const auto& b, auto&& out) { out = a * b; });
    case Op::divide:
      return pairwise(c, [](const auto& a, const auto& b, auto&& out) { out = a / b; });
    case Op::power: {
      const Code& exponent = sheet_.codes()[static_cast<std::size_t>(c.parts[1])];
      if (exponent.op == Op::number) {
        if (exponent.number == 2) return column(0, [](const auto& a, auto&& o) { o = a * a; });
        if (exponent.number == 3) return column(0, [](const auto& a, auto&& o) { o = a * a * a; });
        if (exponent.number == 4)
          return column(0, [](const auto& a, auto&& o) { o = (a * a) * (a * a); });
        if (exponent.number == 0.5) return column(0, [](const auto& a, auto&& o) { o = a.sqrt(); });
        if (exponent.number == -0.5)
          return column(0, [](const auto& a, auto&& o) { o = 1 / a.sqrt(); });
        if (exponent.number == -1) return column(0, [](const auto& a, auto&& o) { o = 1 / a; });
      }
      return one_by_one(c, [](const Arguments& x) { return std::pow(x[0], x[1]); });
    }
    case Op::less:
      return one_by_one(c, [](const Arguments& x) { return double(x[0] < x[1]); });
    case Op::less_equal:
      return one_by_one(c, [](const Arguments& x) { return double(x[0] <= x[1]); });
    case Op::greater:
      return one_by_one(c, [](const Arguments& x) { return double(x[0] > x[1]); });
    case Op::greater_equal:
      return one_by_one(c, [](const Arguments& x) { return double(x[0] >= x[1]); });
    case Op::equal:
      return one_by_one(c, [](const Arguments& x) { return double(x[0] == x[1]); });
    case Op::different:
      return one_by_one(c, [](const Arguments& x) { return double(x[0] != x[1]); });
    case Op::both:
      if (c.careful) return each_scalar();
      return one_by_one(c, [](const Arguments& x) { return double(x[0] != 0 && x[1] != 0); });
    case Op::either:
      if (c.careful) return each_scalar();
      return one_by_one(c, [](const Arguments& x) { return double(x[0] != 0 || x[1] != 0); });
    case Op::choice: {
      if (c.careful) return each_scalar();
      return one_by_one(c, [](const Arguments& x) { return x[0] != 0 ? x[1] : x[2]; });
    }
    case Op::function: {
      static const auto kExp = function_of_one("exp"), kLog = function_of_one("log"),
                        kSqrt = function_of_one("sqrt"), kTanh = function_of_one("tanh");
      if (c.function == kExp) return column(0, [](const auto& a, auto&& o) { o = a.exp(); });
      if (c.function == kLog) return column(0, [](const auto& a, auto&& o) { o = a.log(); });
      if (c.function == kSqrt) return column(0, [](const auto& a, auto&& o) { o = a.sqrt(); });
      if (c.function == kTanh)
        return column(0, [](const auto& a, auto&& o) { hyperbolic_tangent(a, o); });
      return one_by_one(c, [&](const Arguments& x) { return c.function(x[0]); });
    }
    case Op::atan2:
      return one_by_one(c, [](const Arguments& x) { return std::atan2(x[0], x[1]); });
    case Op::minimum:
    case Op::maximum:
    case Op::total:
    case Op::average: {
      const std::size_t n = c.parts.size();
      if (c.careful || n > 8) return each_scalar();
      return one_by_one(c, [&](const Arguments& x) {
        double all = c.op == Op::minimum || c.op == Op::maximum ? x[0] : 0;
        for (std::size_t k = 0; k < n; ++k) {
          if (c.op == Op::minimum) all = std::min(all, x[k]);
          if (c.op == Op::maximum) all = std::max(all, x[k]);
          if (c.op == Op::total || c.op == Op::average) all += x[k];
        }
        return c.op == Op::average ? all / static_cast<double>(n) : all;
      });
    }
    default:
      if (std::find(c.bound_used.begin(), c.bound_used.end(), lane_slot_) != c.bound_used.end())
        return each_scalar();
      return {false, binder(number), nullptr};
  }
}

// ---------------------------------------------------------------------------------------- binders

double Evaluator::at(int slot, double value, int code) {
  spend(1);
  values_[static_cast<std::size_t>(slot)] = value;
  return scalar(code);
}

std::pair<double, double> Evaluator::weighted(int slot,
                                              std::span<const double> x,
                                              std::span<const double> weights,
                                              int f,
                                              bool with_absolute) {
  double total = 0, absolute = 0;
  for (std::size_t first = 0; first < x.size(); first += kLanes) {
    const std::size_t n = std::min(kLanes, x.size() - first);
    spend(n);
    const Lanes lanes(*this, slot, x.data() + first, n);
    const Block values = block(f);
    const ConstColumn w(weights.data() + first, static_cast<Eigen::Index>(n));
    if (values.many) {
      const ConstColumn v(values.all, static_cast<Eigen::Index>(n));
      total += (w * v).sum();
      if (with_absolute) absolute += (w * v.abs()).sum();
    } else {
      const double all = w.sum();  // weights are >= 0
      total += all * values.one;
      absolute += all * std::abs(values.one);
    }
  }
  return {total, absolute};
}

double Evaluator::normal(const Code& c) {
  Workspace& w = workspace(c);
  const Noise noise(*this);
  while (!w.adaptive) {
    bool cut = false;
    if (const auto found = trapezoid(c, w, cut)) {
      noise.end(found->absolute, found->error);
      if (found->absolute == 0 && (has_peaks(c.parts[0]) || has_kinks(c.parts[0]))) {
        remark(
            fmt::format("{}: the formula is 0 wherever it was evaluated; if it has a narrow "
                        "peak, write an integral with limits around it",
                        c.text));
      }
      return with_rounding(found->value, found->absolute);
    }
    w.adaptive = !cut || ++w.range == trapezoidal(effort_.half).size();
  }
  return weighed_by_density([&](double z) { return at(c.slot, z, c.parts[0]); }, w, c);
}

double Evaluator::with_rounding(double value, double absolute) const {
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon(), kNoticed = 1e-11;
  const double off = kRounding * absolute;
  return effort_.half && off > kNoticed * std::abs(value) ? value + off : value;
}

std::optional<Evaluator::Average> Evaluator::trapezoid(const Code& c, Workspace& w, bool& cut) {
  const TrapezoidalRule& rule = trapezoidal(effort_.half)[w.range];
  double coarse = 0, coarse_absolute = 0, sum = 0, absolute_sum = 0, ends = 0;
  std::size_t n = rule.coarsest << (w.level - 1);
  // Adds nodes from `first` to 2n; what lies before n is the coarser rule.
  const auto add = [&](std::size_t first) {
    for (; first < 2 * n; first += kLanes) {
      const std::size_t count = std::min(kLanes, 2 * n - first);
      spend(count);
      const Lanes lanes(*this, c.slot, rule.x.data() + first, count);
      const Block values = block(c.parts[0]);
      if (!values.many) return std::optional(values.one);
      const auto size = static_cast<Eigen::Index>(count);
      const ConstColumn weights(rule.density.data() + first, size), v(values.all, size);
      if (first == 0) {
        const auto last = static_cast<Eigen::Index>(rule.coarsest) - 1;
        ends = std::max(weights[0] * std::abs(v[0]), weights[last] * std::abs(v[last]));
      }
      const Eigen::Index before =
          first < n ? static_cast<Eigen::Index>(std::min(n - first, count)) : 0;
      const auto added = weights * v;
      if (before > 0) {
        coarse += added.head(before).sum();
        coarse_absolute += added.head(before).abs().sum();
      }
      sum += added.tail(size - before).sum();
      absolute_sum += added.tail(size - before).abs().sum();
    }
    return std::optional<double>();
  };
  double change_before = std::numeric_limits<double>::infinity();
  for (std::size_t first = 0;; ++w.level) {
    sum = absolute_sum = 0;
    if (const auto constant = add(first)) return Average{*constant, std::abs(*constant), 0};
    const double step = kWidest / static_cast<double>(1 << w.level);
    sum += coarse;
    absolute_sum += coarse_absolute;
    const double before = 2 * step * coarse, absolute_before = 2 * step * coarse_absolute;
    const double now = step * sum, absolute = step * absolute_sum;
    constexpr double kSettled = 0.05, kNegligible = 1e-3;
    constexpr double kNothing = 1e-290;  // exp of many numbers ends at 1e-309
    cut = std::isfinite(absolute) && ends > kNegligible * effort_.tolerance * absolute;
    if (cut || !std::isfinite(absolute)) return std::nullopt;
    const double change = std::abs(now - before);
    constexpr std::size_t kManyNodes = 128;
    // Of 1/z that of the absolute value grows with n.
    bool settled = std::abs(absolute - absolute_before) <= kSettled * absolute &&
                   (change <= noise_ || (change <= effort_.tolerance * absolute &&
                                         (absolute > kNothing || w.level == kFinest)));
    // An average that oscillates from node to node: the first one of every binder is looked at.
    bool seen_apart = false;
    if (settled && !w.looked) {
      constexpr double kApart = 8;
      const auto& other = rule.moved[static_cast<std::size_t>(w.level) - 1];
      const double moved = weighted(c.slot, other.x, other.weights, c.parts[0], false).first;
      seen_apart =
          std::abs(moved - before) > kApart * std::max(effort_.tolerance * absolute, noise_);
      settled = !seen_apart;
      w.looked = settled;
    }
    if (settled) {
      if (effort_.half) return Average{before, absolute, change};
      return Average{now, absolute, 0};
    }
    // Of a smooth function the error falls by ever larger factors; of one with a kink by two to
    // four.
    constexpr double kSlow = 0.05;
    const bool slow = 2 * n >= kManyNodes && change > kSlow * change_before &&
                      change > effort_.tolerance * absolute;
    if (w.level == kFinest || slow) return std::nullopt;
    if (!seen_apart) change_before = change;
    coarse = sum;
    coarse_absolute = absolute_sum;
    n *= 2;
    first = n;
  }
}

double Evaluator::weighed_by_density(const std::function<double(double)>& f,
                                     Workspace& w,
                                     const Code& c) {
  const auto g = [&](double z) { return density(z) * f(z); };
  // What lies beyond an end is of the size of what stands there, unless f grows as the density
  // falls. Ends farther out than needed may lie where f overflows.
  const double small = 1e-3 * effort_.tolerance;
  for (const double tail : {kTail, 16.0, 22.0, 29.0, 33.0, kFarTail}) {
    const std::array<double, 9> breaks = {-tail, -6, -3, -1, 0, 1, 3, 6, tail};
    const double value = quadrature(g, -tail, tail, breaks, w, c);
    const double ends = std::max(std::abs(g(-tail)), std::abs(g(tail)));
    if (!(ends > small * w.largest)) return value;
  }
  fail(c,
       "the average has no value: the formula grows as fast as the normal density falls, or "
       "faster");
}

double Evaluator::normal_pair(const Code& c) {
  const double rho = scalar(c.parts[0]);
  if (!(rho >= -1 && rho <= 1)) fail(c, fmt::format("correlation {}, expected -1 to 1", rho));
  const double rest = std::sqrt((1 - rho) * (1 + rho));
  Workspace& w = workspace(c);
  const int f = c.parts[1];
  const Noise noise(*this);
  // The nodes of two rules may agree on both sides of a kink and have none next to it.
  w.adaptive = w.adaptive || has_kinks(f);
  if (!w.adaptive) {
    const auto average = [&](std::size_t nodes) {
      const HermiteRule& rule = hermite(nodes);
      std::pair<double, double> all{0, 0};
      w.x.resize(rule.x.size());
      for (std::size_t i = 0; i < rule.x.size(); ++i) {
        values_[static_cast<std::size_t>(c.slot)] = rule.x[i];
        for (std::size_t j = 0; j < rule.x.size(); ++j) w.x[j] = rho * rule.x[i] + rest * rule.x[j];
        const auto [value, absolute] = weighted(c.slot2, w.x, rule.weight, f);
        all.first += rule.weight[i] * value;
        all.second += rule.weight[i] * absolute;
      }
      return all;
    };
    std::size_t n = std::max(kFewestNodes, w.nodes / 2);
    double before = average(n).first;
    while (n < kMostPairNodes) {
      n *= 2;
      const auto [now, absolute] = average(n);
      const double change = std::abs(now - before);
      if (std::isfinite(absolute) &&
          (change <= effort_.tolerance * absolute || change <= noise.inside())) {
        w.nodes = n;
        noise.end(absolute);
        return with_rounding(effort_.half ? before : now, absolute);
      }
      before = now;
    }
    w.adaptive = true;
  }
  if (!w.inner) w.inner = std::make_unique<Workspace>();
  const auto inner = [&](double z) {
    return weighed_by_density(
        [&](double u) {
          values_[static_cast<std::size_t>(c.slot)] = z;
          return at(c.slot2, rho * z + rest * u, f);
        },
        *w.inner,
        c);
  };
  return weighed_by_density(inner, w, c);
}

namespace {

/// The variable of GSL's rules: x itself, or t from 0 to 1 where an end is infinite, beyond the
/// finite end or on both sides of 0.
struct PlaceOf {
  double a = 0, b = 0;

  bool infinite() const { return std::isinf(a) || std::isinf(b); }
  double end() const { return std::isfinite(a) ? a : std::isfinite(b) ? b : 0; }
  double operator()(double x) const { return infinite() ? 1 / (1 + std::abs(x - end())) : x; }
  /// @param near a place on the same side
  double back(double t, double near) const {
    if (!infinite()) return t;
    const double away = (1 - t) / t;
    return near < end() ? end() - away : end() + away;
  }
};

}  // namespace

double Evaluator::quadrature(const std::function<double(double)>& f,
                             double a,
                             double b,
                             std::span<const double> breaks,
                             Workspace& w,
                             const Code& c) {
  if (!w.intervals) w.intervals.reset(gsl_integration_workspace_alloc(kIntervals));
  if (!w.intervals) check_gsl(GSL_ENOMEM, "quadrature");
  double where = kNone;  // not finite there
  double largest = 0, at_largest = 0;
  const Noise noise(*this);
  const double relative = std::max((effort_.half ? 1000 : 10) * effort_.tolerance, 5e-14);
  struct Found {
    double value = 0;
    double error = 0;
    int code = 0;
  };
  constexpr double kAside = 1e-9;
  gsl_integration_workspace* const room = w.intervals.get();
  const auto integrate = [&](bool absolute) {
    Found found;
    GslFunction function([&](double x) {
      double value = f(x);
      if (!std::isfinite(value)) {
        // A singularity, or 0/0, at this very place: what stands beside it.
        const double aside = kAside * (std::isfinite(b - a) ? b - a : std::max(std::abs(x), 1.0));
        value = f(std::isfinite(b) && x > b - 2 * aside ? x - aside : x + aside);
      }
      if (!std::isfinite(value)) where = x;
      if (std::abs(value) > largest) {
        largest = std::abs(value);
        at_largest = x;
      }
      return absolute ? std::abs(value) : value;
    });
    if (!breaks.empty()) {
      std::vector<double> points(breaks.begin(), breaks.end());
      found.code = gsl_integration_qagp(&function,
                                        points.data(),
                                        points.size(),
                                        0,
                                        relative,
                                        kIntervals,
                                        room,
                                        &found.value,
                                        &found.error);
    } else if (std::isinf(a) && std::isinf(b)) {
      found.code = gsl_integration_qagi(
          &function, 0, relative, kIntervals, room, &found.value, &found.error);
    } else if (std::isinf(b)) {
      found.code = gsl_integration_qagiu(
          &function, a, 0, relative, kIntervals, room, &found.value, &found.error);
    } else if (std::isinf(a)) {
      found.code = gsl_integration_qagil(
          &function, b, 0, relative, kIntervals, room, &found.value, &found.error);
    } else {
      found.code = gsl_integration_qags(
          &function, a, b, 0, relative, kIntervals, room, &found.value, &found.error);
    }
    function.rethrow();
    return found;
  };
  // Gauss-Kronrod rules do not see a jump between an end of an interval and their outermost node,
  // and take the interval for exact. The second evaluation is by rules of Clenshaw and Curtis,
  // which have nodes at the ends, on the same intervals, so that the difference shows it.
  const auto with_ends = [&](const Found& first) {
    constexpr std::size_t kMostParts = 200, kRoom = 200;
    constexpr double kFar = 100;
    const std::size_t parts = room->size;
    const double exact = std::max(10 * effort_.tolerance, 5e-14) * std::abs(first.value);
    if (parts > kMostParts || !(exact > 0)) return first;
    if (!w.ends) w.ends.reset(gsl_integration_cquad_workspace_alloc(kRoom));
    if (!w.ends) check_gsl(GSL_ENOMEM, "quadrature");
    // As QAGI: t from 0 to 1 for what lies beyond the finite end, or on both sides of 0.
    const bool infinite = std::isinf(a) || std::isinf(b);
    const double end = std::isfinite(a) ? a : std::isfinite(b) ? b : 0;
    // These rules square their sums, and do not end where a square overflows, nor where rounding of
    // an inner average is above their tolerance: values are in units of the largest one seen, none
    // is larger than kMost of them, and there are at most kMostValues.
    const double unit = std::ldexp(1.0, largest > 0 ? std::ilogb(largest) : 0);
    constexpr double kMost = 1e100;
    constexpr int kMostValues = 20'000;
    int values = 0;
    bool beyond = false;
    GslFunction function([&](double t) {
      beyond = beyond || ++values > kMostValues;
      if (beyond) return 0.0;
      double value = kNone;
      if (!infinite) {
        value = f(t) / unit;
      } else if (t != 0) {  // there infinitely far out
        const double away = (1 - t) / t;
        value = std::isinf(b) ? f(end + away) : 0;
        if (std::isinf(a)) value += f(end - away);
        value = value / unit / t / t;
      }
      beyond = std::isfinite(value) && std::abs(value) > kMost;
      return beyond ? 0.0 : value;
    });
    Found all;
    for (std::size_t k = 0; k < parts; ++k) {
      Found part;
      part.code = gsl_integration_cquad(&function,
                                        room->alist[k],
                                        room->blist[k],
                                        exact / unit / static_cast<double>(parts),
                                        0,
                                        w.ends.get(),
                                        &part.value,
                                        &part.error,
                                        nullptr);
      function.rethrow();
      if (part.code != GSL_SUCCESS || !std::isfinite(part.value) || beyond) return first;
      all.value += unit * part.value;
      all.error += unit * part.error;
    }
    return all.error <= kFar * exact ? all : first;
  };
  Found found = integrate(false);
  if (effort_.half && std::isnan(where)) found = with_ends(found);
  if (!std::isnan(where)) fail(c, fmt::format("the formula is not finite at {}", where));
  w.largest = largest;
  w.at_largest = at_largest;
  const PlaceOf place{a, b};
  for (std::size_t k = 0; k < room->size; ++k) {
    if (room->alist[k] <= place(at_largest) && place(at_largest) <= room->blist[k]) {
      w.from = room->alist[k];
      w.to = room->blist[k];
    }
  }
  const double width = std::isfinite(b - a) ? b - a : 1;
  // Short of the tolerance by rounding is no failure: the second evaluation tells the error. Nor is
  // a value that is small because positive and negative parts cancel, if each of them is finite.
  // Beside a pole, too, the two sides cancel in any rule, and leave a value that is none.
  constexpr double kUseless = 1e-5, kSettled = 1e-3, kPeak = 100;
  double scale = std::abs(found.value);
  const bool close = std::isfinite(found.value) && found.error <= kUseless * scale;
  bool good = close || (std::isfinite(found.value) && found.error <= width * noise.inside());
  if (std::isfinite(found.value) && (!good || (close && largest * width > kPeak * scale))) {
    const Found parts = integrate(true);
    scale = std::max(scale, parts.value);
    good = parts.error <= kSettled * parts.value && found.error <= kUseless * scale;
  }
  noise.end(scale);
  if (!good && close) {
    fail(c,
         "quadrature does not converge: the integral of the absolute value has none, as next to a "
         "pole");
  }
  if (!good) {
    fail(c,
         fmt::format("quadrature does not converge ({}); value {:.3g}, error {:.2g}",
                     gsl_strerror(found.code),
                     found.value,
                     found.error));
  }
  return found.value;
}

/// A peak between the places at which quadrature looked. Where the formula falls off by an order on
/// both sides of the largest value within a fraction of the interval there, the nodes do not
/// resolve it: what is between them is scanned.
std::optional<Evaluator::Peak> Evaluator::missed_peak(const std::function<double(double)>& f,
                                                      double a,
                                                      double b,
                                                      const Workspace& w) const {
  constexpr double kNodes = 16, kFalls = 0.1, kHigher = 3;
  const PlaceOf place{a, b};
  const double here = w.at_largest;
  const double step = (w.to - w.from) / kNodes;
  if (!(w.largest > 0) || !(step > 0)) return std::nullopt;
  const double first = place.infinite() ? 0 : a, last = place.infinite() ? 1 : b;
  double low = std::max(place(here) - step, first), high = std::min(place(here) + step, last);
  const auto size = [&](double t) {
    if (place.infinite() && t <= 0) return 0.0;
    try {
      const double value = std::abs(f(place.back(t, here)));
      return std::isfinite(value) ? value : 0.0;
    } catch (const Error& error) {  // at an end, where quadrature has no node
      if (error.kind() != ErrorKind::numerical) throw;
      return 0.0;
    }
  };
  if (std::max(size(low), size(high)) >= kFalls * w.largest) return std::nullopt;
  double best = place(here), height = w.largest;
  for (int round = 0; round < 12; ++round) {
    constexpr int kPlaces = 24;
    const double apart = (high - low) / kPlaces;
    for (int k = 1; k < kPlaces; ++k) {
      const double t = low + k * apart, now = size(t);
      if (now <= height) continue;
      height = now;
      best = t;
    }
    low = std::max(best - apart, first);
    high = std::min(best + apart, last);
  }
  const double x = place.back(best, here);
  // At an end it is a singularity there, which the rules are made for.
  constexpr double kEnd = 1e-6;
  const double range = last - first;
  if (height <= kHigher * w.largest || best - first < kEnd * kEnd * range ||
      (!place.infinite() && last - best < kEnd * range) || std::abs(x - place.end()) == 0)
    return std::nullopt;
  double width = 1e-12 * std::max(std::abs(x), 1e-12);
  const auto falls = [&](double at) {
    return at <= a || at >= b || !(std::abs(f(at)) > height / 2);
  };
  while (!(falls(x - width) && falls(x + width)) && width < std::abs(x) + 1) width *= 2;
  return Peak{x, width};
}

double Evaluator::with_peaks(const std::function<double(double)>& f,
                             double a,
                             double b,
                             Workspace& w,
                             const Code& c,
                             int depth) {
  const double whole = quadrature(f, a, b, {}, w, c);
  const double largest = w.largest;
  const auto peak = has_peaks(c.parts[2]) ? missed_peak(f, a, b, w) : std::nullopt;
  constexpr int kDeepest = 5;
  if (!peak || depth == kDeepest) {
    if (peak) {
      remark(fmt::format(
          "{}: a peak at {:.6g} is narrower than quadrature resolves; give limits around it",
          c.text,
          peak->x));
    }
    return whole;
  }
  constexpr double kCore = 8, kWings = 64;
  double sum = 0, all = largest, before = a;
  for (const double next : {peak->x - kWings * peak->width,
                            peak->x - kCore * peak->width,
                            peak->x,
                            peak->x + kCore * peak->width,
                            peak->x + kWings * peak->width,
                            b}) {
    if (!(next > before) || next > b) continue;
    sum += with_peaks(f, before, next, w, c, depth + 1);
    all = std::max(all, w.largest);
    before = next;
  }
  if (before < b) sum += with_peaks(f, before, b, w, c, depth + 1);
  w.largest = all;
  return sum;
}

double Evaluator::integral(const Code& c) {
  double a = scalar(c.parts[0]), b = scalar(c.parts[1]);
  if (std::isnan(a) || std::isnan(b)) fail(c, fmt::format("limits {} and {}", a, b));
  if (a == b) return 0;
  const double sign = a < b ? 1 : -1;
  if (a > b) std::swap(a, b);
  if (std::isinf(a) && std::isinf(b) && a == b) fail(c, "limits that are both infinite");
  const int f = c.parts[2];
  Workspace& w = workspace(c);
  const double value = with_peaks([&](double u) { return at(c.slot, u, f); }, a, b, w, c, 0);
  // A peak may have been met at its very place alone; of an odd formula positive and negative
  // halves cancel.
  const bool met = w.largest > 0;
  if ((!met || (value == 0 && a != -b)) && has_peaks(f)) {
    remark(
        fmt::format("{}: the formula is 0 {}wherever it was evaluated between {:.6g} and {:.6g}; "
                    "if it has a narrow peak, give limits around it",
                    c.text,
                    met ? "nearly " : "",
                    a,
                    b));
  }
  return sign * value;
}

/// Whether a formula may be 0 for most numbers and not for all: it has exp, or a comparison.
bool Evaluator::has_peaks(int number) const {
  const Code& c = sheet_.codes()[static_cast<std::size_t>(number)];
  static const auto kExp = function_of_one("exp");
  return (c.op == Op::function && c.function == kExp) || (c.op >= Op::less && c.op <= Op::choice) ||
         std::ranges::any_of(c.parts, [&](int part) { return has_peaks(part); });
}

bool Evaluator::has_kinks(int number) const {
  const Code& c = sheet_.codes()[static_cast<std::size_t>(number)];
  static const std::array kKinks = {function_of_one("abs"),
                                    function_of_one("sign"),
                                    function_of_one("floor"),
                                    function_of_one("rint")};
  return (c.op == Op::function &&
          std::find(kKinks.begin(), kKinks.end(), c.function) != kKinks.end()) ||
         (c.op >= Op::less && c.op <= Op::choice) || c.op == Op::minimum || c.op == Op::maximum ||
         std::ranges::any_of(c.parts, [&](int part) { return has_kinks(part); });
}

double Evaluator::mean(const Code& c) {
  const Numbers& list = lists_[static_cast<std::size_t>(c.size)];
  if (list.values.empty()) fail(c, "the list is empty");
  const auto [total, absolute] =
      weighted(c.slot, list.values, list.weights, c.parts[0], effort_.half);
  return with_rounding(total, absolute) / list.total_weight;
}

double Evaluator::sum(const Code& c) {
  const double a = scalar(c.parts[0]), b = scalar(c.parts[1]);
  constexpr double kWhole = 1e-9;
  const double first = std::round(a), last = std::round(b);
  if (!(std::abs(a - first) <= kWhole * std::max(1.0, std::abs(a))) ||
      !(std::abs(b - last) <= kWhole * std::max(1.0, std::abs(b)))) {
    fail(c, fmt::format("limits {} and {}, expected whole numbers", a, b));
  }
  if (last < first) return 0;
  if (last - first >= kMostTerms)
    fail(c, fmt::format("{} terms, expected at most 1e7", last - first + 1));
  std::array<double, kLanes> index;
  static const std::array<double, kLanes> kOnes = [] {
    std::array<double, kLanes> ones;
    ones.fill(1);
    return ones;
  }();
  double total = 0, absolute = 0;
  for (double k = first; k <= last;) {
    std::size_t n = 0;
    for (; n < kLanes && k <= last; ++n, ++k) index[n] = k;
    const auto [part, size] =
        weighted(c.slot, {index.data(), n}, {kOnes.data(), n}, c.parts[2], effort_.half);
    total += part;
    absolute += size;
  }
  return with_rounding(total, absolute);
}

double Evaluator::root(const Code& c) {
  double a = scalar(c.parts[0]), b = scalar(c.parts[1]);
  if (!(a < b)) fail(c, fmt::format("limits {} and {}, expected the first below the second", a, b));
  const int f = c.parts[2];
  // Of an infinite value the sign counts: differences of it are no numbers.
  constexpr double kHuge = 1e300;
  const auto value = [&](double y) {
    const double found = at(c.slot, y, f);
    if (std::isnan(found)) fail(c, fmt::format("the formula is not a number at {}", y));
    return std::clamp(found, -kHuge, kHuge);
  };
  double low = 0, high = 0;
  if (std::isfinite(a) && std::isfinite(b)) {
    low = value(a);
    high = value(b);
  } else {
    // The change of sign that lies next to zero, or to the end that is given.
    const std::vector<double> x = places_between(a, b);
    std::optional<std::size_t> found;
    std::vector<double> y;
    for (const double place : x) y.push_back(at(c.slot, place, f));
    for (std::size_t k = 0; k + 1 < x.size(); ++k) {
      if (std::isnan(y[k]) || std::isnan(y[k + 1]) || (y[k] < 0) == (y[k + 1] < 0)) continue;
      if (!found || std::abs(x[k]) < std::abs(x[*found])) found = k;
    }
    if (!found) fail(c, "no change of sign between -1.6e6 and 1.6e6");
    a = x[*found];
    b = x[*found + 1];
    low = y[*found];
    high = y[*found + 1];
  }
  if (low == 0) return a;
  if (high == 0) return b;
  if ((low < 0) == (high < 0)) {
    fail(c, fmt::format("no change of sign: {:.6g} at {}, {:.6g} at {}", low, a, high, b));
  }
  // A root that is one of several is told; the first calls are looked at.
  Workspace& w = workspace(c);
  constexpr int kLooks = 8, kParts = 17;
  if (w.looks < kLooks) {
    ++w.looks;
    int changes = 0;
    double before = low;
    for (int k = 1; k <= kParts; ++k) {
      const double here = k == kParts ? high : at(c.slot, a + (b - a) * k / kParts, f);
      if (std::isnan(here) || here == 0) continue;
      if ((here < 0) != (before < 0)) ++changes;
      before = here;
    }
    if (changes > 1)
      remark(
          fmt::format("{}: several changes of sign between {:.6g} and {:.6g}; one of the zeros "
                      "was taken",
                      c.text,
                      a,
                      b));
  }
  const double close = std::max((effort_.half ? 1 : 1e-3) * effort_.tolerance, 4e-16);
  std::uintmax_t steps = 200;
  const auto near = [&](double left, double right) {
    return std::abs(right - left) <= close * std::max(std::abs(left), std::abs(right)) ||
           std::abs(right - left) < 1e-300;
  };
  const auto [left, right] = boost::math::tools::toms748_solve(value, a, b, low, high, near, steps);
  const double found = 0.5 * (left + right);
  const double rest = std::abs(value(found)), largest = std::max(std::abs(low), std::abs(high));
  if (rest > largest) fail(c, fmt::format("it jumps over zero at {} and has no root there", found));
  constexpr double kJump = 0.01;
  const double below = value(left), above = value(right);
  if (std::min(std::abs(below), std::abs(above)) > kJump * largest) {
    remark(
        fmt::format("{}: the formula jumps over zero at {:.6g}, from {:.6g} to {:.6g}; the place "
                    "of the jump was "
                    "taken",
                    c.text,
                    found,
                    below,
                    above));
  }
  return found;
}

double Evaluator::argmin(const Code& c) {
  const double a = scalar(c.parts[0]), b = scalar(c.parts[1]);
  if (!(a < b)) fail(c, fmt::format("limits {} and {}, expected the first below the second", a, b));
  const int f = c.parts[2];
  Workspace& w = workspace(c);
  if (w.x.empty() || w.low != a || w.high != b) w.x = places_between(a, b);
  w.low = a;
  w.high = b;
  const std::vector<double>& x = w.x;
  std::vector<double>& y = w.f;
  y.resize(x.size());
  for (std::size_t first = 0; first < x.size(); first += kLanes) {
    const std::size_t n = std::min(kLanes, x.size() - first);
    spend(n);
    const Lanes lanes(*this, c.slot, x.data() + first, n);
    const Block values = block(f);
    for (std::size_t k = 0; k < n; ++k) y[first + k] = values.many ? values.all[k] : values.one;
  }
  for (double& value : y) {
    if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
  }
  struct Found {
    double x = kNone;
    double y = std::numeric_limits<double>::infinity();
    double slack = 0;
  };
  std::vector<Found> minima;
  const std::size_t last = x.size() - 1;
  for (std::size_t k = 0; k <= last; ++k) {
    if (!std::isfinite(y[k])) continue;
    if ((k > 0 && y[k - 1] < y[k]) || (k < last && y[k + 1] < y[k])) continue;
    // Of equal neighbours the first stands for all.
    if (k > 0 && y[k - 1] == y[k] && k < last && y[k + 1] == y[k]) continue;
    const std::size_t left = k > 0 ? k - 1 : 0, right = k < last ? k + 1 : last;
    Found found{x[k], y[k]};
    bool refined = false;
    constexpr double kClosest = 1e-9;
    const auto slope_at = [&](double place) { return at(c.slot, place, c.derivative); };
    // The minimum where the derivative changes from below zero to above; false if it does not.
    const auto zero_between = [&](double low, double at_low, double high, double at_high) {
      if (!(at_low < 0 && at_high > 0 && std::isfinite(at_low) && std::isfinite(at_high)))
        return false;
      std::uintmax_t steps = 200;
      const double close = std::max((effort_.half ? 1 : 1e-3) * effort_.tolerance, 4e-16);
      const auto near = [&](double p, double q) {
        return std::abs(q - p) <= close * std::max(std::abs(p), std::abs(q)) ||
               std::abs(q - p) < 1e-300;
      };
      const auto [p, q] = boost::math::tools::toms748_solve(
          [&](double place) {
            const double value = slope_at(place);
            if (std::isnan(value)) fail(c, fmt::format("no derivative at {}", place));
            return value;
          },
          low,
          high,
          at_low,
          at_high,
          near,
          steps);
      found.x = 0.5 * (p + q);
      found.y = at(c.slot, found.x, f);
      return true;
    };
    if (c.derivative >= 0) {
      double low = x[left], high = x[right];
      double at_low = slope_at(low), at_high = slope_at(high);
      // Halved from where the derivative is no number: beyond the range of exp, for instance.
      for (int n = 0; n < 60 && !std::isfinite(at_low) && low < x[k]; ++n) {
        low = 0.5 * (low + x[k]);
        at_low = slope_at(low);
      }
      for (int n = 0; n < 60 && !std::isfinite(at_high) && high > x[k]; ++n) {
        high = 0.5 * (high + x[k]);
        at_high = slope_at(high);
      }
      refined = zero_between(low, at_low, high, at_high);
    }
    if (!refined && (k == 0 || k == last)) {
      if ((k == 0 && std::isinf(a)) || (k == last && std::isinf(b))) continue;
      refined = true;  // an end of the range
    }
    if (!refined) {
      // Values fix a minimum to the square root of rounding only; how much, the second evaluation
      // shows, which is less exact.
      constexpr int kHalf = 20;
      std::uintmax_t steps = 200;
      const auto [place, value] = boost::math::tools::brent_find_minima(
          [&](double p) {
            const double found_there = at(c.slot, p, f);
            return std::isnan(found_there) ? std::numeric_limits<double>::infinity() : found_there;
          },
          x[left],
          x[right],
          effort_.half ? kHalf : std::numeric_limits<double>::digits,
          steps);
      if (value <= found.y) found = {place, value};
      // A narrow minimum, at whose sides the formula is flat: the derivative's zero next to it.
      const double width = x[right] - x[left];
      for (double side = kClosest * width; c.derivative >= 0 && side < width; side *= 10) {
        const double low = std::max(found.x - side, x[left]);
        const double high = std::min(found.x + side, x[right]);
        if (zero_between(low, slope_at(low), high, slope_at(high))) break;
      }
    }
    minima.push_back(found);
  }
  if (minima.empty())
    fail(c, "no minimum: the smallest value lies at the end of an infinite range");
  std::sort(minima.begin(), minima.end(), [](const Found& p, const Found& q) { return p.y < q.y; });
  const Found& best = minima.front();
  if ((std::isinf(a) && y.front() <= best.y) || (std::isinf(b) && y.back() <= best.y))
    fail(c, "no minimum: the smallest value lies at the end of an infinite range");
  if (minima.size() > 1) {
    constexpr double kEqual = 1e-12, kApart = 1e-6;
    const Found& second = minima[1];
    if (second.y - best.y <= kEqual * (1 + std::abs(best.y)) &&
        std::abs(second.x - best.x) > kApart * (1 + std::abs(best.x))) {
      remark(fmt::format("{}: two minima of equal depth, at {:.6g} and {:.6g}; the first was taken",
                         c.text,
                         std::min(best.x, second.x),
                         std::max(best.x, second.x)));
      return std::min(best.x, second.x);
    }
  }
  return best.x;
}

bool Evaluator::has_kink(const Code& c,
                         const std::function<double(double)>& f,
                         double here,
                         double scale) {
  // Slopes on the left and on the right of a kink differ by as much at any distance, those of a
  // curved line by less at a smaller one. Averages and roots have a rounding of their own.
  const bool by_rules = c.derivative >= 0;
  const double near = by_rules ? 1e-7 : 1e-3, far = 30 * near;
  const double noise = by_rules ? 1e-14 : 100 * effort_.tolerance;
  constexpr double kShrinks = 0.5, kApart = 1e-3;
  const double middle = f(0);
  const auto sides = [&](double step) {
    return std::array{(middle - f(-step)) / (step * scale), (f(step) - middle) / (step * scale)};
  };
  const auto [left, right] = sides(near);
  const auto [far_left, far_right] = sides(far);
  const double apart = std::abs(right - left), most = std::max(std::abs(left), std::abs(right));
  const double rounding = noise * std::abs(middle) / (near * scale);
  const bool kink =
      apart > kApart * most + rounding && apart > kShrinks * std::abs(far_right - far_left);
  // At a jump slopes grow as the distance shrinks.
  constexpr double kGrows = 10;
  const bool jump = most > kGrows * std::max(std::abs(far_left), std::abs(far_right)) + rounding;
  if (!kink && !jump) return false;
  if (c.inside) return true;
  fail(c,
       fmt::format("no derivative at {:.6g}: the slope is {:.6g} on the left and {:.6g} on the "
                   "right",
                   here,
                   left,
                   right));
}

double Evaluator::slope(const Code& c) {
  const auto slot = static_cast<std::size_t>(c.slot);
  const double here = values_[slot];
  const double scale = here == 0 ? 1 : std::abs(here);
  const auto move = [&](double step) {
    values_[slot] = here + scale * step;
    for (const int number : c.definitions) define(number);
  };
  const auto f = [&](double step) {
    spend(1);
    move(step);
    return scalar(c.parts[0]);
  };
  const auto differences = [&] {
    using boost::math::differentiation::finite_difference_derivative;
    return effort_.half ? finite_difference_derivative<decltype(f), double, 6>(f, 0.0) / scale
                        : finite_difference_derivative<decltype(f), double, 8>(f, 0.0) / scale;
  };
  const auto changes = [&](int edge) {
    constexpr double kClose = 1e-9;
    const double middle = scalar(edge);
    bool same = true;
    for (const double step : {-kClose, kClose}) {
      move(step);
      same = same && scalar(edge) == middle;
    }
    move(0);
    return !same;
  };
  double result = 0;
  try {
    const bool by_rules = c.derivative >= 0;
    result = by_rules ? scalar(c.derivative) : differences();
    const bool looked = !effort_.half && (!by_rules || std::ranges::any_of(c.edges, changes));
    if (looked && has_kink(c, f, here, scale)) result = kNone;
  } catch (...) {
    values_[slot] = here;
    for (const int number : c.definitions) {
      if (static_cast<std::size_t>(number) < defined_with_.size())
        defined_with_[static_cast<std::size_t>(number)].reset();
    }
    throw;
  }
  move(0);
  return result;
}

// ------------------------------------------------------------------------------------ definitions

void Evaluator::define(int number) {
  const Sheet::Definition& d = sheet_.definitions()[static_cast<std::size_t>(number)];
  if (!d.is_list) {
    if (!d.program.results.empty()) run(d.program, values_.data());
    const double value = d.program.results.empty()
                             ? scalar(d.root)
                             : values_[static_cast<std::size_t>(d.program.results[0])];
    if (!std::isfinite(value)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("{} = '{}' is {}", d.text.where, d.text.formula, value));
    }
    values_[static_cast<std::size_t>(d.slot)] = value;
    return;
  }
  Numbers& list = lists_[static_cast<std::size_t>(d.slot)];
  const std::string& where = d.text.where;
  if (d.index < 0) {
    list.values = d.list.values;
    list.weights = d.list.weights;
  } else {
    const double first = scalar(d.from), last = scalar(d.to);
    constexpr double kMostNumbers = 1e6;
    if (first != std::round(first) || last != std::round(last) || !(last >= first) ||
        !(last - first < kMostNumbers)) {
      throw Error(ErrorKind::numerical,
                  fmt::format("{}: from {} to {}; expected whole numbers, and at most 1e6 of them",
                              where,
                              first,
                              last));
    }
    list.values.clear();
    list.weights.clear();
    for (double k = first; k <= last; ++k) {
      list.values.push_back(at(d.index, k, d.root));
      if (d.weight >= 0) list.weights.push_back(at(d.index, k, d.weight));
    }
  }
  if (list.weights.empty()) list.weights.assign(list.values.size(), 1.0);
  list.total_weight = 0;
  for (std::size_t k = 0; k < list.values.size(); ++k) {
    if (!std::isfinite(list.values[k]) || !std::isfinite(list.weights[k]) || list.weights[k] < 0) {
      throw Error(
          ErrorKind::numerical,
          fmt::format("{}: number {} is {} with weight {}; expected finite numbers, weights "
                      ">= 0",
                      where,
                      k + 1,
                      list.values[k],
                      list.weights[k]));
    }
    list.total_weight += list.weights[k];
  }
  if (!(list.total_weight > 0))
    throw Error(ErrorKind::numerical, fmt::format("{}: the weights are zero", where));
}

void Evaluator::prepare() {
  for (auto& w : workspaces_) {
    if (!w) continue;
    w->nodes = kFewestNodes;
    w->level = 1;
    w->range = 0;
    w->adaptive = false;
    w->looked = false;
    w->looks = 0;
  }
  defined_with_.resize(sheet_.definitions().size());
  for (const int number : sheet_.order()) {
    const Sheet::Definition& d = sheet_.definitions()[static_cast<std::size_t>(number)];
    if (d.moves) continue;
    // Long lists are made once for all places that they do not depend on.
    std::optional<std::vector<double>>& with = defined_with_[static_cast<std::size_t>(number)];
    std::vector<double> needs;
    for (const int slot : d.needs) needs.push_back(values_[static_cast<std::size_t>(slot)]);
    if (with == needs) continue;
    with.reset();
    define(number);
    with = std::move(needs);
  }
}

void Evaluator::evaluate(const Group& group, std::span<double> values) {
  spend(group.roots.size() * group.count);
  for (const int number : group.moving) define(number);
  if (!group.programmed.empty()) {
    run(group.program, values_.data());
    for (std::size_t k = 0; k < group.programmed.size(); ++k)
      values[group.programmed[k]] = values_[static_cast<std::size_t>(group.program.results[k])];
  }
  for (const std::size_t k : group.others) {
    try {
      if (group.index < 0) {
        values[k] = scalar(group.roots[k]);
        continue;
      }
      double* const out = values.data() + k * group.count;
      std::array<double, kLanes> index;
      for (std::size_t first = 0; first < group.count; first += kLanes) {
        const std::size_t n = std::min(kLanes, group.count - first);
        for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<double>(first + i + 1);
        const Lanes lanes(*this, group.index, index.data(), n);
        const Block block_of = block(group.roots[k]);
        for (std::size_t i = 0; i < n; ++i)
          out[first + i] = block_of.many ? block_of.all[i] : block_of.one;
      }
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}: {}", group.where[k], error.what()));
    }
  }
}

double Evaluator::value(const Group& group) {
  double result = 0;
  evaluate(group, {&result, 1});
  return result;
}

// --------------------------------------------------------------------------- two evaluations in
// one

EvaluatorPair::EvaluatorPair(Evaluator& first, const Evaluator& second) : first_(first) {
  values_.reserve(first.values_.size());
  for (std::size_t k = 0; k < first.values_.size(); ++k)
    values_.emplace_back(first.values_[k], second.values_[k]);
}

bool EvaluatorPair::takes(const Sheet& sheet, const Group& group) {
  return group.index < 0 && group.others.empty() &&
         std::ranges::all_of(group.moving, [&](int number) {
           const Sheet::Definition& d = sheet.definitions()[static_cast<std::size_t>(number)];
           return !d.is_list && !d.program.results.empty();
         });
}

void EvaluatorPair::evaluate(const Group& group, Pair* values) {
  first_.spend(2 * group.roots.size());
  Pair zero = Pair::Zero();  // NaN where a definition is not finite
  for (const int number : group.moving) {
    const Sheet::Definition& d = first_.sheet_.definitions()[static_cast<std::size_t>(number)];
    run(d.program, values_.data());
    const Pair value = (*this)[d.program.results[0]];
    zero += 0.0 * value;
    (*this)[d.slot] = value;
  }
  run(group.program, values_.data());
  for (std::size_t k = 0; k < group.roots.size(); ++k) {
    values[k] = (*this)[group.program.results[k]];
    if (!group.moving.empty()) values[k] += zero;
  }
}

}  // namespace attica::formula
