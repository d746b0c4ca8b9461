/// @file
/// @brief Study joma-overlap: what becomes of the conserved quantities if embeddings overlap. One
/// identity is left; the others drift in proportion to the overlap.

#include "attica/theory/joma/overlap.hpp"

#include <cmath>
#include <deque>

#include "attica/sim/joma/networks.hpp"
#include "attica/sim/joma/overlap_descent.hpp"
#include "attica/studies/joma/file_start.hpp"
#include "attica/studies/joma/model.hpp"

namespace attica::joma_overlap {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class Overlap : public PointwiseExperiment {
 public:
  explicit Overlap(const Configuration& c)
      : overlaps_(ascending(c.reals("sweep.overlap"))),
        attentions_(c.texts("model.attention")),
        eta_(c.real("sim.eta")),
        steps_(c.integer("sim.length")) {
    const JomaSizes sizes{.tokens = c.integer("model.tokens"),
                          .samples = c.integer("model.samples"),
                          .classes = c.integer<int>("model.classes"),
                          .queries = c.integer<int>("model.queries"),
                          .units = c.integer("model.units")};
    std::vector<RunAt> realised;
    for (const double overlap : overlaps_) {
      constexpr double kLeast = 1e-4;
      require(overlap >= kLeast,
              "sweep.overlap",
              overlap,
              fmt::format("at least {:g}: random embeddings have dimension 1/overlap^2", kLeast));
      const auto d = static_cast<double>(dimension(overlap));
      realised.push_back(
          {.asked = overlap,
           .realised = 1 / std::sqrt(d),
           .words = fmt::format("d = {:.0f}, overlap = {:.4g}", d, 1 / std::sqrt(d))});
      require(dimension(overlap) > sizes.tokens,
              "sweep.overlap",
              overlap,
              "1/overlap^2, the dimension of random embeddings, above the number of tokens");
    }
    rounded_.emplace_back(c,
                          "sweep.overlap",
                          "overlap",
                          "random embeddings have a whole dimension d = 1/overlap^2",
                          std::move(realised));
    const auto seed = c.seed();
    for (std::size_t a = 0; a < attentions_.size(); ++a) {
      const std::string& attention = attentions_[a];
      RandomStream of_model({.seed = seed, .id = StreamId::model});
      RandomStream of_start({.seed = seed, .id = StreamId::initialisation});
      JomaLaw law{.attention = kJomaAttentions(attention),
                  .activation = kJomaActivations(c.text("model.activation")),
                  .temperature = c.real("model.temperature")};
      JomaModel model = random_joma_model(sizes, std::move(law), of_model);
      JomaState start = random_joma_start(model, c.real("sim.scale"), of_start);
      const bool from_file = take_file_start(c, start);
      if (attention == "linear" && !from_file) start.z.array() += c.real("sim.logit");
      descents_.push_back({std::move(model), std::move(start), eta_, steps_});
      responses_.emplace_back([this, a] { return descents_[a].response(); });
    }
  }

  TheoryResult theory(TheoryGrid grid) const override {
    TheoryResult result;
    for (std::size_t a = 0; a < attentions_.size(); ++a) {
      const Orders first = at_point({{"attention", attentions_[a]}}, [&] {
        return moves_of(descents_[a].orthonormal, descents_[a].start);
      });
      const double next = next_order(a, first.second);
      const Index tokens = descents_[a].orthonormal.tokens();
      Curves equal = curve("equal_drift", a);
      Curves leading = curve("equal_drift_first", a);
      Curves random = curve("random_drift", a);
      Curves identity = curve("invariant_drift", a);
      for (const double e : line_between(overlaps_, AxisScale::log, grid, 2)) {
        const MatrixXd gram = equal_overlap(tokens, e);
        const Orders orders = at_point({{"attention", attentions_[a]}, {"overlap", e}}, [&] {
          return moves_of(with_gram(descents_[a].orthonormal, gram), descents_[a].start);
        });
        equal.add(e, {told_to_step(orders, [&](const MatrixXd& moves) {
                    return mean_square_drift(moves, gram);
                  })});
        leading.add(e, {mean_square_drift(first.second, gram)});
        const auto d = static_cast<double>(dimension(e));
        PredictedValue told = told_to_step(
            first, [&](const MatrixXd& moves) { return random_mean_square_drift(moves, d); });
        told.finite_size += next / d * told.y;
        random.add(e, {told});
        identity.add(e, {0.0});
      }
      for (const Curves* curves : {&equal, &leading, &random, &identity}) curves->into(result);
    }
    add_constant(result, "mean_square_cosine", 1 / static_cast<double>(dimension(largest())));
    return result;
  }

  /// An attention with random embeddings at every overlap, then with equal ones.
  std::size_t points() const override { return 2 * attentions_.size() * overlaps_.size(); }

 protected:
  bool deterministic(std::size_t point) const override { return equal(point); }

  double flops(std::size_t point) const override {
    constexpr double kSample = 200;
    const JomaModel& model = descents_[attention(point)].orthonormal;
    return kSample * static_cast<double>(steps_ * model.samples().weights.size() * model.units() *
                                         model.tokens());
  }

  Outcome run(const Replicate& replicate) const override {
    const std::size_t a = attention(replicate.point());
    const double overlap = overlaps_[replicate.point() % overlaps_.size()];
    const Index tokens = descents_[a].orthonormal.tokens();
    Outcome outcome;
    if (equal(replicate.point())) {
      const OverlapDrift trained = descents_[a].with(equal_overlap(tokens, overlap));
      if (trained.blown_up_at) return diverged(trained);
      curve("equal_drift", a).add(overlap, {mean_square(trained.drift)}).into(outcome);
      return outcome;
    }
    RandomStream stream = replicate.stream(StreamId::model);
    const MatrixXd gram = random_overlap(tokens, dimension(overlap), stream);
    const OverlapDrift trained = descents_[a].with(gram);
    if (trained.blown_up_at) return diverged(trained);
    // An exact control variate: what the cosines do to first order, whose mean square is known, as
    // they are uncorrelated with variance 1/d.
    const MatrixXd& response = responses_[a].get();
    const double known = response.squaredNorm() / static_cast<double>(tokens * dimension(overlap));
    const double square =
        mean_square(trained.drift) - mean_square(response * pair_cosines(gram)) + known;
    curve("random_drift", a).add(overlap, {square}).into(outcome);
    if (a == 0 && overlap == largest()) {
      // Over many random embeddings besides the one of the replicate.
      add_constant(outcome,
                   "mean_square_cosine",
                   mean_square_cosine(replicate.stream(), tokens, dimension(overlap)));
    }
    curve("invariant_drift", a).add(overlap, {trained.violation}).into(outcome);
    return outcome;
  }

 private:
  double time() const { return eta_ * static_cast<double>(steps_); }

  /// Moves of the flow, and to first and second order of the step.
  struct Orders {
    MatrixXd flow;
    MatrixXd first;
    MatrixXd second;
  };
  Orders moves_of(const JomaModel& model, const JomaState& start) const {
    return {overlap_moves(model, start, time(), 0),
            overlap_moves(model, start, time(), eta_, 1),
            overlap_moves(model, start, time(), eta_)};
  }

  /// A mean square to second order of the step. The third was up to as much as the second moves, or
  /// the square of the first, as long as they are small.
  template <class MeanSquare>
  static PredictedValue told_to_step(const Orders& moves, const MeanSquare& mean_square) {
    constexpr double kMost = 0.015;
    const double square = mean_square(moves.second);
    const auto change = [&](const MatrixXd& above, const MatrixXd& below) {
      return 2 * std::sqrt(mean_square(above - below) / square);  // relative, at most
    };
    if (!(square > 0)) return {square};
    const double first = change(moves.first, moves.flow);
    const double next = std::max(change(moves.second, moves.first), first * first);
    const bool small = next <= kMost;
    return {square, small ? next * square : 0, small};
  }

  /// How many 1/d of the first order are allowed for the next: 12, as the eight networks of
  /// docs/joma.md had 10.8(9) at most. Of two or three tokens some have more, about three times
  /// what equal cosines ±e have of the order e^2 (21(4) of 20, 37(3) of 35): four times that. Where
  /// cosines are many it averages out (six tokens: 2.3(10) of 14).
  double next_order(std::size_t a, const MatrixXd& first) const {
    constexpr double kLeast = 12;
    constexpr double kFactor = 4;
    constexpr double kFew = 3;
    const Index tokens = descents_[a].orthonormal.tokens();
    const auto pairs = static_cast<double>(tokens * (tokens - 1)) / 2;
    const double e = 0.1 / static_cast<double>(tokens);
    const MatrixXd above = equal_overlap(tokens, e);
    const MatrixXd below = 2 * MatrixXd::Identity(tokens, tokens) - above;
    double square = 0;
    for (const MatrixXd& gram : {above, below}) {
      square += mean_square_drift(
          overlap_moves(
              with_gram(descents_[a].orthonormal, gram), descents_[a].start, time(), eta_),
          gram);
    }
    const double leading = 2 * mean_square_drift(first, above);
    return leading > 0 ? std::max(kLeast,
                                  kFactor * std::min(1.0, kFew / pairs) *
                                      std::abs(square / leading - 1) / (e * e))
                       : kLeast;
  }

  double largest() const { return *std::max_element(overlaps_.begin(), overlaps_.end()); }

  static Outcome diverged(const OverlapDrift& trained) {
    Outcome outcome;
    mark_diverged(outcome, *trained.blown_up_at);
    return outcome;
  }
  static double mean_square(const VectorXd& v) {
    return v.squaredNorm() / static_cast<double>(v.size());
  }

  static Index dimension(double overlap) { return std::lround(1 / (overlap * overlap)); }
  bool equal(std::size_t point) const { return point >= attentions_.size() * overlaps_.size(); }
  std::size_t attention(std::size_t point) const {
    return point / overlaps_.size() % attentions_.size();
  }
  Curves curve(const std::string& name, std::size_t a) const {
    return {{{"attention", attentions_[a]}}, "overlap", {name}};
  }

  std::vector<double> overlaps_;
  std::vector<std::string> attentions_;
  double eta_;
  std::int64_t steps_;
  std::vector<OverlapDescent> descents_;  ///< of the attentions
  std::deque<Lazy<MatrixXd>> responses_;
};

std::vector<ExponentClaim> exponents(const Configuration& c) {
  std::vector<ExponentClaim> all;
  for (const std::string& attention : c.texts("model.attention")) {
    all.push_back({.name = attention,
                   .series = "random_drift",
                   .x_name = "overlap",
                   .only = {{"attention", attention}},
                   .exponent = 2,
                   .meaning = "first order in the overlap, squared"});
  }
  return all;
}

}  // namespace

Study study() {
  return described({.name = "joma-overlap", .make = make<Overlap>, .exponents = exponents});
}

}  // namespace attica::joma_overlap
