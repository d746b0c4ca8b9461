#include "attica/app/command/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace attica::app {
namespace {

constexpr auto kHelp = std::to_array<VerbHelp>({
    {"demo", {"attica demo", "attica demo --out first --json"}, "docs/guide.md#a-first-run"},
    {"list", {"attica list", "attica list bigrams"}, "docs/guide.md#choose-a-study"},
    {"claims", {"attica claims 2410.23438", "attica claims --json"}, "docs/papers.md"},
    {"show",
     {"attica show gauss-double-descent", "attica show bigrams-flow --json"},
     "docs/guide.md#choose-a-study"},
    {"init",
     {"attica init gauss-double-descent > mine.toml",
      "attica init bigrams-regularisation --preset paper > mine.toml"},
     "docs/guide.md#change-parameters"},
    {"theory",
     {"attica theory gauss-double-descent",
      "attica theory gauss-lambda --set model.rho=0.3 --json"},
     "docs/guide.md#change-parameters"},
    {"run",
     {"attica run gauss-double-descent --replicates 100",
      "attica run bigrams-flow --set model.context=500 --name longer"},
     "docs/guide.md#a-first-run"},
    {"check",
     {"attica check runs/gauss-double-descent-1a2b3c4d",
      "attica check runs/gauss-double-descent-1a2b3c4d --perturb 'test_error*=1.02'"},
     "docs/guide.md#reading-a-disagree"},
    {"plot",
     {"attica plot runs/gauss-double-descent-1a2b3c4d --style neurips --format pdf",
      "attica plot runs/gauss-double-descent-1a2b3c4d --set 'figure.x.label=\"samples per "
      "input\"'"},
     "docs/figures.md#of-any-run"},
    {"figure",
     {"attica figure --paper 2410.23438:1",
      "attica figure runs/weak-1a2b3c4d runs/strong-5e6f7a8b"},
     "docs/figures.md"},
    {"explore",
     {"attica explore gauss-double-descent",
      "attica explore gauss-lambda --grid 'model.rho=[0.1, 0.5, 0.9]' --export lambda.html"},
     "docs/explore.md"},
    {"status",
     {"attica status runs/gauss-double-descent-1a2b3c4d",
      "attica status runs/gauss-double-descent-1a2b3c4d --json"},
     "docs/guide.md#long-runs"},
    {"plan",
     {"attica plan gauss-double-descent",
      "attica plan gauss-lambda --resolution 0.05 --power 0.95"},
     "docs/guide.md#how-many-replicates"},
    {"merge",
     {"attica merge runs/big-1a2b3c4d-shard*of8", "attica merge runs/big-*-shard*of8 --out whole"},
     "docs/scale.md#a-cluster-with-a-queue-shards"},
    {"slurm",
     {"attica slurm gauss-sizes --shards 16 > job.sh",
      "attica slurm mine.toml --max-time 4h > job.sh"},
     "docs/scale.md#a-cluster-with-a-queue-shards"},
    {"gallery",
     {"attica gallery gauss-lambda --out gallery", "attica gallery --perturbed gauss-lambda"},
     "docs/gallery.md"},
    {"map",
     {"attica map gauss-sgd --x sweep.eta=0.01..0.2:5:log --y model.rho=0.1..0.9:5",
      "attica map bigrams-floor --x sim.eta=0.01..0.2:4:log --y sim.batch=8..512:4:log --dry-run"},
     "docs/maps.md"},
    {"measure",
     {"attica measure layer1.csv layer2.csv --json",
      "attica measure 'model.safetensors:embed.weight' --tokens rows"},
     "docs/guide.md#your-own-data"},
    {"judge",
     {"attica judge theory.csv measured.csv --margin 5%",
      "attica judge theory.csv losses.csv --x step --replicate seed --value loss --margin 5%"},
     "docs/own.md#two-tables"},
    {"audit",
     {"attica audit examples/audits", "attica audit examples/audits --json"},
     "docs/audits.md"},
    {"bound",
     {"attica bound steps.csv --expression '2*x'",
      "attica bound steps.csv --expression 'C*x^2' --constant C --probability 0.9"},
     "docs/bounds.md"},
    {"fit",
     {"attica fit losses.csv --exponent -0.5", "attica fit losses.csv --floor --exponent -0.5"},
     "docs/own.md#exponents"},
    {"report",
     {"attica report runs/gauss-double-descent-1a2b3c4d",
      "attica report runs/gauss-double-descent-1a2b3c4d --out pages"},
     "docs/files.md"},
    {"compare",
     {"attica compare runs/weak-1a2b3c4d runs/strong-5e6f7a8b",
      "attica compare runs/weak-1a2b3c4d runs/strong-5e6f7a8b --json"},
     "docs/guide.md#compare-two-runs"},
    {"rerun",
     {"attica rerun runs/gauss-double-descent-1a2b3c4d",
      "attica rerun runs/gauss-double-descent-1a2b3c4d --threads 1"},
     "docs/guide.md#make-a-run-reproducible-for-others"},
    {"artifact",
     {"attica artifact runs/gauss-double-descent-1a2b3c4d -o artifact.zip",
      "attica artifact runs/weak-1a2b3c4d runs/strong-5e6f7a8b -o supplement.zip"},
     "docs/guide.md#make-a-run-reproducible-for-others"},
    {"cite",
     {"attica cite gauss-double-descent",
      "attica cite runs/gauss-double-descent-1a2b3c4d > attica.bib"},
     "docs/citing.md"},
    {"config",
     {"attica config show gauss-lambda --set model.rho=0.3",
      "attica config keys gauss-lambda --json"},
     "docs/guide.md#change-parameters"},
    {"schema",
     {"attica schema config gauss-lambda > schema.json", "attica schema card > card.json"},
     "docs/cards.md"},
    {"mcp", {"attica mcp", "attica mcp < messages.jsonl > answers.jsonl"}, "docs/mcp.md"},
    {"migrate",
     {"attica migrate old.toml > new.toml", "attica migrate old.toml --quiet > new.toml"},
     "docs/guide.md#change-parameters"},
    {"new",
     {"attica new my-attention", "attica new my-attention --in-tree ."},
     "docs/guide.md#your-own-study"},
    {"doctor", {"attica doctor", "attica doctor --json"}, "docs/guide.md#where-next"},
    {"completion",
     {"attica completion bash > ~/.local/share/bash-completion/completions/attica",
      "attica completion zsh > _attica"},
     "docs/guide.md#where-next"},
    {"man", {"attica man > attica.1", "attica man | man -l -"}, "docs/guide.md#where-next"},
});

/// Where the keys of a configuration of one's own are explained: a part of a message, and the page.
struct PageOfKey {
  std::string_view key;
  std::string_view page;
};
constexpr auto kPagesOfKeys = std::to_array<PageOfKey>({
    {"'simulation.", "docs/own.md#a-configuration"},
    {"[agreement.", "docs/own.md#a-configuration"},
    {"theory.training", "docs/own.md#the-training-theory-of-a-model"},
    {"theory.expression", "docs/theory-in-text.md#formulas"},
    {"theory.let", "docs/theory-in-text.md#formulas"},
    {"theory.lists", "docs/theory-in-text.md#formulas"},
    {"theory.series", "docs/theory-in-text.md#formulas"},
    {"theory.flow", "docs/theory-in-text.md#flows"},
    {"theory.map", "docs/theory-in-text.md#recursions"},
    {"theory.solve", "docs/theory-in-text.md#self-consistent-equations"},
});

}  // namespace

const VerbHelp& help_of(std::string_view verb) {
  const auto found = std::ranges::find(kHelp, verb, &VerbHelp::verb);
  if (found == kHelp.end()) throw std::logic_error(fmt::format("verb {} has no examples", verb));
  return *found;
}

std::string help_footer(std::string_view verb) {
  const VerbHelp& help = help_of(verb);
  return fmt::format(
      "Examples:\n  {}\n  {}\n\nMore: {}\n", help.examples[0], help.examples[1], help.page);
}

std::string with_page(const std::string& message, std::string_view verb) {
  const auto names = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  if (names("docs/")) return message;
  std::string_view page = verb.empty() ? "docs/guide.md#a-first-run" : help_of(verb).page;
  if (names("unknown study")) page = "docs/guide.md#choose-a-study";
  // Mistakes in files say where they are.
  if (names(": error: ") && verb != "figure" && verb != "plot") {
    page = names("[theory") || names("[simulation") || names("[[claim") || names("'expression'")
               ? "docs/own.md#a-configuration"
           : names(".toml:") || names("--set ") ? "docs/guide.md#change-parameters"
                                                : "docs/own.md#files-that-are-read";
  }
  for (const PageOfKey& one : kPagesOfKeys) {
    if (names(one.key)) page = one.page;
  }
  return fmt::format("{} ({})", message, page);
}

}  // namespace attica::app
