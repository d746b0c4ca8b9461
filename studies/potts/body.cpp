#include "attica/studies/potts/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attica/core/potts/body_ensembles.hpp"
#include "attica/studies/potts/model.hpp"
#include "attica/studies/training_end.hpp"
#include "attica/theory/potts/order_plateaus.hpp"

namespace attica {

using Eigen::Index;

namespace {

/// How many of all sets of sites interact.
Index interacting(double density, Index all) {
  return std::max<Index>(1, std::llround(density * static_cast<double>(all)));
}

RoundedValues realised_density(const Configuration& c) {
  const auto sites = c.integer("model.sites");
  const auto order = c.integer("model.order");
  double all = 1;
  for (std::int64_t k = 0; k < order; ++k)
    all *= static_cast<double>(sites - k) / static_cast<double>(k + 1);
  all = std::round(all);
  const double density = c.real("model.density");
  const auto count = static_cast<double>(interacting(density, static_cast<Index>(all)));
  return {c,
          "model.density",
          "density",
          fmt::format("of {:.0f} sets of {} sites a whole number interacts", all, order),
          {{.asked = density,
            .realised = count / all,
            .words = fmt::format("{:.0f} sets, density {:.4g}", count, count / all)}}};
}

/// The model of a checked [model] section.
BodyModel body_model(const Configuration& c) {
  try {
    const Index sites = c.integer("model.sites");
    const Index colours = c.integer("model.colours");
    const auto order = c.integer<int>("model.order");
    RandomStream stream({.seed = c.seed(), .id = StreamId::model});
    Hyperedges edges = all_hyperedges(sites, order);
    if (c.real("model.density") < 1) {
      edges = random_hyperedges(
          edges, interacting(c.real("model.density"), edges.sites.rows()), stream);
    }
    const double scale = 1 / std::sqrt(edges_per_site(edges, sites));
    const std::string& couplings = c.text("model.couplings");
    if (couplings == "cosine") {
      edges.couplings = cosine_body_couplings(edges);
    } else {
      for (double& j : edges.couplings) j = couplings == "gauss" ? scale * stream.normal() : scale;
    }
    const std::string& tensor = c.text("model.colour_couplings");
    const bool graded_parts = tensor.starts_with("graded_");
    if (!graded_parts && c.given("model.order_weights")) {
      throw Error(ErrorKind::input,
                  "parameter 'model.order_weights' needs model.colour_couplings = \"graded_...\"",
                  "model.order_weights");
    }
    ColourTensor u = tensor.ends_with("gauss") ? gaussian_tensor(order, colours, stream)
                                               : cosine_tensor(order, colours);
    if (graded_parts) u = graded(u, c.reals("model.order_weights"));
    return {sites, std::move(edges), std::move(u), c.real("model.beta")};
  } catch (const Error& error) {
    // What core calls `order` is `model.order` here.
    const std::string& name = error.parameter();
    if (name.empty() || name.find('.') != std::string::npos) throw;
    const std::string key = "model." + name;
    std::string message = error.what();
    const std::string quoted = "'" + name + "'";
    if (const auto at = message.find(quoted); at != std::string::npos) {
      message.replace(at, quoted.size(), "'" + key + "'");
    }
    throw Error(error.kind(), message, key);
  }
}

}  // namespace

BodyProblem::BodyProblem(const Configuration& c)
    : model_(body_model(c)),
      density_(realised_density(c)),
      samples_(c.integer("sim.samples")),
      data_([model = model_, options = gibbs_pool_options(c), seed = c.seed()] {
        return BodyData(model, options, seed);
      }) {}

TheoryResult BodyProblem::theory() const {
  TheoryResult result;
  const auto tell = [&](double bayes_loss, double log_partition, const auto& plateau_of) {
    add_constant(result, "bayes_loss", bayes_loss);
    for (int order = 1; order <= model_.order(); ++order) {
      // At the order of the data the best prediction is the model's own.
      const double loss = order == model_.order() ? bayes_loss : plateau_of(order);
      add_constant(result, "plateau", loss, {{"order", static_cast<double>(order)}});
    }
    result.diagnostics = {{"log_partition", log_partition}};
  };
  if (few_states(model_.sites(), model_.colours())) {
    const PottsEnumeration all = enumerate(model_);
    const MaskedPopulation population = MaskedPopulation::enumerated(model_, all);
    tell(population.bayes_loss(), all.log_partition, [&](int order) {
      return order_plateau(population, model_.colours(), order);
    });
  } else if (const auto alike = ExchangeableBody::of(model_); alike && has_few_counts(*alike)) {
    const CountedContexts contexts = counted_contexts(*alike);
    tell(contexts.bayes_loss, contexts.log_partition, [&](int order) {
      return order_plateau(contexts, order);
    });
  } else {
    result.warnings.emplace_back("too many states to enumerate: no Bayes loss and no plateaus");
  }
  return result;
}

Outcome BodyProblem::train(
    const DeepFactoredTraining& plan,
    const Replicate& replicate,
    const std::function<void(const DeepFactoredRecord&, double)>& observe) const {
  const BodyData& data = data_.get();
  std::optional<MaskedPopulation> own;
  if (data.shared_test() == nullptr) {
    own = data.drawn_test(replicate.stream(StreamId::test_data));
  }
  const MaskedPopulation& test = own ? *own : *data.shared_test();
  const double bayes_loss = data.bayes_loss(test);
  const auto train = [&](const auto& source) {
    return train_deep_factored(
        plan,
        source,
        test,
        replicate.address(),
        [&](const DeepFactoredRecord& record) { observe(record, bayes_loss + record.excess_loss); },
        [&] { return replicate.stopped(); });
  };
  const auto fresh = [&](Index n, RandomStream& s) { return data.draw(n, s); };
  const auto states = [&](Index n, RandomStream& s) { return data.draw_states(n, s); };
  Sequences stored;
  const auto from_stored = [&](Index n, RandomStream& s) {
    Sequences batch(n, stored.cols());
    for (Index k = 0; k < n; ++k) {
      batch.row(k) =
          stored.row(static_cast<Index>(s.below(static_cast<std::uint64_t>(stored.rows()))));
    }
    return batch;
  };
  Outcome outcome;
  if (samples_ > 0) {
    StreamAddress address = replicate.address();
    address.step = ~std::uint64_t{0};  // no step of the training
    RandomStream stream(address);
    stored = data.draw(samples_, stream);
    mark_end(outcome, train(SequenceSource(from_stored)));
  } else if (data.has_states(plan.batch)) {
    // In a batch larger than the number of states most sequences are there several times.
    mark_end(outcome, train(StateSource(states)));
  } else {
    mark_end(outcome, train(SequenceSource(fresh)));
  }
  return outcome;
}

Outcome BodyProblem::train(const TransformerTraining& plan,
                           const Replicate& replicate,
                           const std::function<void(std::uint64_t, double)>& observe) const {
  const BodyData& data = data_.get();
  const ExcessLoss test(
      [&](const std::uint8_t* sequence, Eigen::MatrixXd& logits) {
        logits.resize(model_.colours(), model_.sites());
        for (Index i = 0; i < model_.sites(); ++i) {
          model_.site_logits(sequence, i, logits.col(i).data());
        }
      },
      enumerate(model_).states);
  Outcome outcome;
  mark_end(
      outcome,
      train_transformer(
          plan,
          [&](Index n, RandomStream& s) { return data.draw(n, s); },
          test,
          replicate.address(),
          [&](std::uint64_t step, double excess) { observe(step, test.bayes_loss() + excess); },
          [&] { return replicate.stopped(); },
          replicate.state_file()));
  return outcome;
}

double loss_error(const Configuration& c) {
  constexpr double kRounding = 1e-5;  // the networks run in single precision
  constexpr double kDrawn = 2e-3;     // 10 000 sequences: docs/beyond-pairs.md
  return few_states(c.integer("model.sites"), c.integer("model.colours")) ? kRounding : kDrawn;
}

DeepFactoredTraining body_training(const Configuration& c, int layers) {
  std::vector<double> scales = c.reals("sim.initial_scale");
  const auto depth = static_cast<std::size_t>(layers);
  if (scales.size() == 1) scales.resize(depth, scales.front());
  require(scales.size() >= depth,
          "sim.initial_scale",
          static_cast<double>(scales.size()),
          fmt::format("one number, or one for each of {} layers", layers));
  scales.erase(scales.begin(), scales.end() - static_cast<std::ptrdiff_t>(depth));
  const auto length = c.integer<std::uint64_t>("sim.length");
  constexpr int kRecords = 60;
  constexpr double kTail = 0.1;
  return {.shape = {.sites = c.integer("model.sites"),
                    .colours = c.integer("model.colours"),
                    .layers = layers,
                    .residual = c.flag("sim.residual")},
          .initial_scale = std::move(scales),
          .optimiser = {.kind = c.text("sim.optimiser") == "adam" ? networks::OptimiserKind::adam
                                                                  : networks::OptimiserKind::sgd,
                        .learning_rate = c.real("sim.eta"),
                        .clip_norm = c.real("sim.clip"),
                        .schedule = {.kind = networks::Schedule::Kind::step,
                                     .start = length - length / 5,
                                     .factor = kTail}},
          .batch = c.integer("sim.batch"),
          .recorded = steps_to_length(c, kRecords)};
}

}  // namespace attica
