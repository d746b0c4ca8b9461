/// @file
/// @brief Study topics-compensation: parts of the network are left untrained, in all combinations;
/// what loss the others end at.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/studies/topics/model.hpp"
#include "attica/theory/topics/loss.hpp"
#include "attica/theory/topics/parts.hpp"

namespace attica::topics_compensation {
namespace {

/// W_V in the order in which it is drawn.
const std::vector<std::string> kValues = {"diagonal", "block", "trained"};
const std::vector<std::string> kEmbeddings = {"one_hot", "trained"};
const std::vector<std::string> kAttentions = {"uniform", "trained"};

/// SGD with a falling rate ends above the optimum: by up to 2 % of what training gains.
constexpr double kNoiseShare = 0.035;

/// What becomes of the three parts.
struct Setting {
  std::string embedding;
  std::string value;
  std::string attention;

  bool attends() const { return attention == "trained"; }
  TrainedParts trained() const { return {embedding == "trained", value == "trained"}; }
  Point point() const {
    return {{"embedding", embedding}, {"value", value}, {"attention", attention}};
  }
  /// For the figure of ends, where W_V is x.
  Point row() const { return {{"embedding", embedding}, {"attention", attention}}; }
  double x() const {
    return static_cast<double>(std::find(kValues.begin(), kValues.end(), value) - kValues.begin());
  }
};

std::vector<Setting> settings_of(const Configuration& c) {
  const auto words = [&](const char* key, const std::vector<std::string>& all) {
    return c.has(key) ? std::vector<std::string>{c.text(key)} : all;
  };
  std::vector<Setting> settings;
  for (const auto& attention : words("model.attention", kAttentions)) {
    for (const auto& embedding : words("model.embedding", kEmbeddings)) {
      for (const auto& value : words("model.value", kValues)) {
        settings.push_back({embedding, value, attention});
      }
    }
  }
  return settings;
}

/// W_V where it stays, or starts.
Commutant start_value(const TopicModel& model, const std::string& value) {
  const double c = 1 / model.kappa();
  if (value == "block") return block_value(model, c);
  return value == "diagonal" ? diagonal_value(c) : Commutant(Commutant::Zero());
}

/// The least loss of a setting, where it is known: under uniform attention.
std::optional<double> known_end(const TopicModel& model, const Setting& s) {
  if (s.attends()) return {};
  return parts_optimum(CommutantAlgebra(model.vocabulary()),
                       value_moments(model),
                       start_value(model, s.value),
                       s.trained());
}

/// What W_V alone gains over the network in which all stays as it was.
double gain(const TopicModel& model) {
  return *known_end(model, {"one_hot", "diagonal", "uniform"}) -
         *known_end(model, {"one_hot", "trained", "uniform"});
}

/// Losses as shares of that gain.
std::vector<double> shares_of_gain(const TopicModel& model, const std::vector<double>& losses) {
  const double untrained = *known_end(model, {"one_hot", "diagonal", "uniform"});
  std::vector<double> shares;
  for (const double loss : losses) shares.push_back((untrained - loss) / gain(model));
  return shares;
}

class Compensation : public PointwiseExperiment {
 public:
  explicit Compensation(const Configuration& c)
      : model_(topic_model(c)),
        algebra_(model_.vocabulary()),
        settings_(settings_of(c)),
        steps_(c.integer<std::uint64_t>("sim.length")),
        optimiser_{.kind = networks::OptimiserKind::sgd,
                   .learning_rate = c.real("sim.eta"),
                   .schedule = {.kind = networks::Schedule::Kind::cosine_tail,
                                .start = steps_ / 2,
                                .length = steps_}},
        scale_(attention_scale(c, model_)),
        epsilon_(c.real("model.epsilon")),
        source_(source_options(c, model_)),
        test_documents_(c.integer("sim.test_documents")) {
    require_squared(c);
    warnings_ = topic_warnings(model_, false);
  }

  TheoryResult theory(TheoryGrid) const override {
    TheoryResult result;
    const ValueMoments moments = value_moments(model_);
    for (const auto& attention : kAttentions) {
      for (const auto& embedding : kEmbeddings) {
        const Point row = Setting{embedding, "", attention}.row();
        Curves ends(row, "value", {"end_loss", "optimum_loss", "end_value"});
        for (const Setting& s : settings_) {
          if (s.row() != row) continue;
          const auto best = known_end(model_, s);
          if (!best) continue;
          TopicParts parts{.value = start_value(model_, s.value)};
          for (std::uint64_t n = 0; n < steps_; ++n) {
            const double eta = optimiser_.learning_rate * optimiser_.schedule(n);
            parts = parts_step(algebra_, moments, parts, s.trained(), eta);
          }
          // The mean output is a word's frequency, W_V's part of it what the bias leaves. A trained
          // embedding can carry the mean as well: how much it does, the noise of SGD decides.
          ends.add(s.x(),
                   {parts_loss(algebra_, moments, parts),
                    *best,
                    {1 / model_.all_words() - parts.bias[1], 0, !s.trained().embedding}});
        }
        if (!ends.empty()) ends.into(result);
        Curves slopes(row, "value", {"descent_slope"});
        for (const Setting& s : settings_) {
          if (s.row() == row) slopes.add(s.x(), {1.0});
        }
        if (!slopes.empty()) slopes.into(result);
      }
    }
    result.diagnostics = {{"gain", gain(model_)}, {"copying_gain", copying_gain(model_)}};
    return result;
  }

  std::size_t points() const override { return settings_.size(); }

 protected:
  double flops(std::size_t) const override {
    constexpr double kFlopsPerToken = 1000;
    const auto length =
        static_cast<double>(model_.infinite() ? source_.queries : model_.settings().length->second);
    return kFlopsPerToken * length * static_cast<double>(source_.batch) *
           static_cast<double>(steps_);
  }

  Outcome run(const Replicate& replicate) const override {
    const Setting& s = settings_[replicate.point()];
    const Eigen::Index tokens = model_.vocabulary().size();
    const TrainedParts trained = s.trained();
    TopicNetwork network({.tokens = tokens,
                          .width = trained.embedding ? tokens : 0,
                          .inner = s.attends() ? tokens : 0,
                          .scale = scale_,
                          .decoder = TopicDecoder::tied,
                          .bias = true});
    network.set_value(algebra_.dense(start_value(model_, s.value)));
    if (s.attends()) network.start_attention(AttentionStart::identity, epsilon_, {});
    if (trained.embedding) {
      using Law = networks::InitialValues::Law;
      network.parameters().initialise("W_E", {.law = Law::identity, .scale = 1}, {});
    }
    TopicSource source(model_, source_, replicate.address());
    Curves curve(s.row(), "value", {"end_loss"});
    Curves values(s.row(), "value", {"end_value"});
    Curves slopes(s.row(), "value", {"descent_slope"});
    const auto end = train_topics(
        network,
        {.optimiser = optimiser_, .recorded = {steps_}, .train_value = trained.value},
        std::ref(source),
        [&](std::uint64_t, const TopicNetwork&) {
          const TopicBatch test = test_batch(replicate.stream(StreamId::test_data));
          curve.add(s.x(), {network.loss(test)});
          slopes.add(s.x(), {descent_slope(network, source(steps_))});
          if (trained.embedding) return;
          const Eigen::VectorXd output = network.value() * test.shares.rowwise().mean();
          values.add(s.x(), {output.tail(tokens - 1).mean()});
        },
        [&] { return replicate.stopped(); });
    std::vector<Curves> all = {curve, slopes};
    if (!values.empty()) all.push_back(values);
    return recorded_run(all, end);
  }

 private:
  TopicBatch test_batch(RandomStream stream) const {
    const TopicSampler sampler(model_);
    TopicBatch batch;
    if (model_.infinite()) {
      sampler.draw_infinite(stream, test_documents_, source_.queries, batch);
    } else {
      sampler.draw(stream, test_documents_, batch);
    }
    return batch;
  }

  TopicModel model_;
  CommutantAlgebra algebra_;
  std::vector<Setting> settings_;
  std::uint64_t steps_;
  networks::OptimiserOptions optimiser_;
  double scale_;
  double epsilon_;
  TopicSourceOptions source_;
  std::int64_t test_documents_;
};

std::vector<AgreementRule> agreement(const Configuration& c) {
  // A central difference over 1e-5.
  constexpr double kDifference = 1e-5;
  // Five standard errors of the average of SGD, which has no bias: of what W_V adds and, as the
  // bias may have nearly all of it, of a word's frequency.
  constexpr double kMean = 0.001;
  constexpr double kFrequency = 2e-5;
  const TopicModel model = topic_model(c);
  return {{.series = "end_loss", .relative = 0, .absolute = kNoiseShare * gain(model)},
          {.series = "descent_slope", .relative = kDifference, .tails = Tails::normal},
          {.series = "end_value",
           .relative = kMean,
           .absolute = kFrequency / static_cast<double>(model.vocabulary().all_words())}};
}

/// What a setting gains over the untrained network, as a share of what W_V alone would; empty if it
/// was not run.
std::vector<double> ends(const TopicModel& model, const Observed& observed, const Setting& s) {
  const ObservedCurve* curve = observed.curve("end_loss", s.row());
  if (curve == nullptr) return {};
  const std::vector<double>& x = curve->mean.x;
  const auto at = std::find(x.begin(), x.end(), s.x());
  if (at == x.end()) return {};
  return shares_of_gain(model, curve->values[static_cast<std::size_t>(at - x.begin())]);
}

/// By how much descent of the bias alone, with a W_V that stays, misses the least loss.
std::optional<double> bias_alone(const Observed& observed) {
  const Setting alone{"one_hot", "diagonal", "uniform"};
  const auto end = observed.predicted("end_loss", alone.row());
  const auto best = observed.predicted("optimum_loss", alone.row());
  if (!end || !best) return {};
  return std::abs(*end - *best);
}

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const TopicModel model = topic_model(c);
  const auto shares = [&](const Setting& s) { return ends(model, observed, s); };
  const std::vector<double> with_value = shares({"one_hot", "trained", "trained"});
  const std::vector<double> all = shares({"trained", "trained", "trained"});
  std::vector<ClaimResult> results;
  const bool frozen = !c.has("model.value") || c.text("model.value") != "trained";
  if (const std::optional<double> off = bias_alone(observed); frozen && off) {
    constexpr double kRounding = 1e-9;
    results.push_back(claim_certain("bias-alone",
                                    "descent of the bias alone ends at the least loss",
                                    *off < kRounding,
                                    fmt::format("off by {:.1e}", *off)));
  }
  const auto claim = [&](const char* name,
                         const char* statement,
                         const std::vector<double>& values,
                         double bound) {
    if (!values.empty()) results.push_back(claim_above(name, statement, values, bound, "share"));
  };
  // What attention alone learns is to copy tokens that were kept, in a time that grows with the
  // number of words.
  if (const double copying = copying_gain(model); copying > 0) {
    std::vector<double> copied = shares({"one_hot", "diagonal", "trained"});
    for (double& share : copied) share *= gain(model) / copying;
    constexpr double kLearnt = 0.5;
    claim(
        "attention-alone",
        "attention alone, W_E and W_V being the identity, gains half and more of what copying kept "
        "tokens would",
        copied,
        kLearnt);
  }
  // More parts have no higher optimum, and SGD comes as near to it as to the known ones.
  constexpr double kNear = 1 - kNoiseShare;
  claim("attention-and-embedding",
        "attention and W_E, W_V being the identity, gain what W_V alone would, but for 3.5 %",
        shares({"trained", "diagonal", "trained"}),
        kNear);
  claim("attention-and-value",
        "attention and W_V, tokens being one-hot, gain what W_V alone would, but for 3.5 %",
        with_value,
        kNear);
  std::vector<double> added;
  for (std::size_t r = 0; r < std::min(with_value.size(), all.size()); ++r) {
    added.push_back(all[r] - with_value[r]);
  }
  claim("embedding-adds", "a trained W_E adds to what attention and W_V gain", added, 0);
  return results;
}

}  // namespace

Study study() {
  return described({.name = "topics-compensation",
                    .make = make<Compensation>,
                    .agreement = agreement,
                    .claims = claims});
}

}  // namespace attica::topics_compensation
