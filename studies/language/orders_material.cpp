#include <algorithm>

#include "attica/sim/language/masked.hpp"
#include "attica/studies/language/orders.hpp"

namespace attica::language_orders {

using Eigen::Index;

int planted_order(const Configuration& c) {
  return c.has("model.planted_order") ? c.integer<int>("model.planted_order") : 0;
}

WindowSource windows_of(const LanguageProblem& problem,
                        int planted,
                        const std::vector<Symbol>& part) {
  if (planted > 0) return chain_source(problem.chain(planted), problem.sites());
  return text_source(part, problem.sites());
}

Material::Material(const Configuration& c, const LanguageProblem& problem) {
  const Index sites = problem.sites();
  const Index clone_windows = c.integer("sim.clone_windows");
  const Index share_windows = c.integer("sim.share_windows");
  const auto sweeps = c.integer<int>("sim.gibbs_sweeps");
  const std::uint64_t seed = c.seed();
  RandomStream stream({.seed = seed, .id = StreamId::test_data});
  const WindowSource training = windows_of(problem, planted_order(c), problem.text().training);
  const WindowSource held = windows_of(problem, planted_order(c), problem.text().held_out);
  test = hide_one(held(c.integer("sim.test_windows"), stream), stream);
  share_training = hide_one(training(share_windows, stream), stream);
  share_test = hide_one(held(std::max<Index>(1, share_windows / 4), stream), stream);
  for (const int n : problem.orders()) {
    const MarkovClone chain = problem.chain(n);
    add_clone(
        chain_name(n),
        chain_source(chain, sites)(clone_windows, stream),
        [&](const MaskedWindows& w) { return chain_laws(chain, w); },
        stream);
  }
  const MarkovClone single = problem.chain(1);
  const double* u = single.frequencies().row(1, 0);
  unigram = Eigen::Map<const Eigen::VectorXd>(u, problem.symbols());
  RandomStream sampler({.seed = seed, .id = StreamId::sampler});
  const auto independent = [&] { return chain_source(single, sites)(clone_windows, sampler); };
  if (c.flag("model.pairs")) {
    const PairModel pairs = fitted_pairs(problem,
                                         training,
                                         PairFit{.steps = c.integer("sim.clone_length")},
                                         kPairBatch,
                                         {.seed = seed, .id = StreamId::model});
    const Windows windows = gibbs_windows(pairs, independent(), sweeps, sampler);
    add_clone(
        kPairs, windows, [&](const MaskedWindows& w) { return pairs.laws(w); }, sampler);
  }
  if (c.flag("model.factored")) {
    MaskedNetwork network = std::move(
        fitted_factored(
            problem, training, factored_clone(c.integer("sim.factored_length")), {.seed = seed})
            .back());
    const Windows windows = gibbs_windows(network, independent(), sweeps, sampler);
    add_clone(
        kFactored,
        windows,
        [&](const MaskedWindows& w) { return network_laws(network, w); },
        sampler);
  }
}

void Material::add_clone(const std::string& name,
                         Windows windows,
                         const std::function<Laws(const MaskedWindows&)>& laws,
                         RandomStream& stream) {
  Clone clone{.name = name,
              .windows = hide_one(std::move(windows), stream),
              .laws = {},
              .text_laws = laws(test)};
  clone.laws = laws(clone.windows);
  clone.entropy = mean_entropy(clone.laws);
  clones.push_back(std::move(clone));
}

}  // namespace attica::language_orders
