#include "attica/studies/trees/model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "attica/core/input_files.hpp"

namespace attica {

using Eigen::Index;
using Eigen::MatrixXd;

namespace {

enum class RuleKind { unambiguous, dense, broadcast, file };

const Choices<RuleKind> kRuleKinds = {{"unambiguous", RuleKind::unambiguous},
                                      {"dense", RuleKind::dense},
                                      {"broadcast", RuleKind::broadcast},
                                      {"file", RuleKind::file}};

/// The rules of a file: blocks of rows, one a parent.
std::vector<MatrixXd> rules_of_file(const Configuration& c, const FilteredTree& tree) {
  if (!c.has("model.file")) {
    throw invalid_parameter("model.file", "(unset)", "a file for model.rule = \"file\"");
  }
  MatrixXd rows;
  try {
    rows = input_numbers(c.inputs, c.input_file("model.file"), CsvHeader::optional).values;
  } catch (const Error& error) {
    throw Error(
        error.kind(), fmt::format("parameter 'model.file': {}", error.what()), "model.file");
  }
  const bool by_level = c.text("model.rules") == "levels";
  const int count = by_level ? tree.depth : 1;
  if (rows.rows() != static_cast<Index>(count) * tree.alphabet) {
    throw invalid_parameter(
        "model.file",
        c.text("model.file"),
        fmt::format("{} rows, one for each parent{} (model.alphabet = {}), not {}",
                    count * tree.alphabet,
                    by_level ? " of each level" : "",
                    tree.alphabet,
                    rows.rows()));
  }
  std::vector<MatrixXd> rules;
  for (int k = 0; k < count; ++k) {
    rules.emplace_back(rows.middleRows(static_cast<Index>(k) * tree.alphabet, tree.alphabet));
  }
  return rules;
}

}  // namespace

FilteredTree filtered_tree(const Configuration& c) {
  FilteredTree tree{.alphabet = static_cast<int>(c.integer("model.alphabet")),
                    .children = static_cast<int>(c.integer("model.children")),
                    .depth = static_cast<int>(c.integer("model.depth")),
                    .root = {},
                    .rules = {}};
  const std::vector<double> root =
      c.has("model.root") ? c.reals("model.root") : std::vector<double>();
  if (root.empty()) {
    tree.root = Eigen::VectorXd::Constant(tree.alphabet, 1.0 / tree.alphabet);
  } else {
    tree.root = Eigen::Map<const Eigen::VectorXd>(root.data(), std::ssize(root));
  }
  // Before rules are drawn, whose size follows from these.
  tree.rules = {MatrixXd::Zero(1, 1)};
  require(std::pow(tree.alphabet, tree.children) <= 1048576,
          "model.children",
          tree.children,
          "at most 2^20 tuples, alphabet^children");
  const RuleKind kind = kRuleKinds.of(c, "model.rule");
  DrawnRules law{.alphabet = tree.alphabet,
                 .children = tree.children,
                 .tuples_each = 0,
                 .sigma = c.real("model.sigma"),
                 .seed = static_cast<std::uint64_t>(c.integer("model.rule_seed"))};
  const int count = c.text("model.rules") == "levels" ? tree.depth : 1;
  switch (kind) {
    case RuleKind::unambiguous:
      law.tuples_each = c.integer("model.tuples");
      if (law.tuples_each == 0) {
        law.tuples_each = static_cast<Index>(std::pow(tree.alphabet, tree.children - 1));
      }
      tree.rules = draw_rules(law, count);
      break;
    case RuleKind::dense:
      tree.rules = draw_rules(law, count);
      break;
    case RuleKind::broadcast:
      tree.rules = {broadcast_rule(tree.alphabet, tree.children, c.real("model.rho"))};
      break;
    case RuleKind::file:
      tree.rules = rules_of_file(c, tree);
      break;
  }
  validate(tree);
  return tree;
}

MaskedTraining tree_training(const Configuration& c) {
  constexpr double kFirst = 8;
  const auto length = static_cast<std::uint64_t>(c.integer("sim.length"));
  std::vector<std::uint64_t> recorded = {0, 2, 4, 6};
  for (int k = 0;; ++k) {
    const auto step = static_cast<std::uint64_t>(std::llround(kFirst * std::exp2(k / 2.0)));
    if (step >= length) break;
    recorded.push_back(step);
  }
  recorded.push_back(length);
  MaskedTraining training{.layers = static_cast<int>(c.integer("sim.layers")),
                          .width = static_cast<int>(c.integer("sim.width")),
                          .heads = static_cast<int>(c.integer("sim.heads")),
                          .mlp_width = static_cast<int>(c.integer("sim.mlp_width")),
                          .deviation = c.real("sim.deviation"),
                          .eta = c.real("sim.eta"),
                          .batch = c.integer("sim.batch"),
                          .recorded = std::move(recorded)};
  require(
      training.width % training.heads == 0, "sim.heads", training.heads, "a divisor of sim.width");
  return training;
}

}  // namespace attica
