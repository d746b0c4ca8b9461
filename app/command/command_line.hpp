#pragma once
/// @file
/// @brief The command line as three tables: verbs, what they are given, and their options. Parser,
/// help, completion and manual page read nothing else.

#include <algorithm>
#include <string>
#include <vector>

#include "attica/app/verbs/verbs.hpp"

namespace attica::app {

/// What a verb takes: an option, or several that go together.
enum class Takes {
  values,         ///< --set
  figure_values,  ///< --set: of a figure
  figures,        ///< --out, --name: of a figure of several runs
  seed,           ///< --seed, --replicates
  preset,         ///< --preset
  threads,        ///< --threads
  out,            ///< --out: of a run
  out_of_merge,   ///< --out
  gallery,        ///< --out
  map,            ///< --x, --y, --depth, --out, --name
  time_of_map,    ///< --max-time
  elsewhere,      ///< --out: of what is made from a run
  replace,        ///< --force: of a figure
  out_of_rerun,   ///< --out
  archive,        ///< --output
  name,           ///< --name
  keep,           ///< --resume, --force, --dry-run
  time,           ///< --max-time: of a run
  time_of_task,   ///< --max-time
  until_decided,  ///< --until-decided
  shard,          ///< --shard
  shards,         ///< --shards
  margin,         ///< --margin: declared before the run
  margin_after,   ///< --margin: post hoc
  judge,          ///< --margin, --absolute, --tails, --interpolate, --partial: of two tables
  workflow,       ///< --junit, --metrics: files for workflows
  folder,         ///< --folder: of a run
  measuring,      ///< --tokens, --topics, --series: of matrices
  matching,       ///< --match, --cluster, --independent: of tables
  x_name,         ///< --x
  columns,        ///< --value, --replicate, --sd, --n: of a table of a simulation
  scaling,   ///< --series, --exponent, --upper-bound, --tolerance, --floor, --quantile, --robust
  reaching,  ///< --reach, --along: of learning curves
  bounding,  ///< --expression, --direction, --probability, --constant
  bounded,   ///< --series, --tolerance: of a bound that is stated
  planning,  ///< --width: of an interval
  against,   ///< --against: of layers that are measured
  sizes,     ///< --x, --expect, --window, --correction: several sizes at once
  collapse,  ///< --collapse, --hold, --start, --out, --name
  anew,      ///< --force
  drawing,   ///< --format, --style, --width
  power,     ///< --power
  special_check,  ///< --extrapolate, --self-test, --full
  edits,          ///< --accept-edits
  perturb,        ///< --perturb
  perturbed,      ///< --perturbed
  resolution,     ///< --resolution
  in_tree,        ///< --in-tree
  explore,        ///< --overlay, --export, --grid, --port
  json,           ///< --json
  always,         ///< what every verb takes
};

/// An option.
struct Option {
  Takes group;
  std::string usage;  ///< "--seed N"; "--json" for a switch; "-f,--format LIST" with a short form
  std::string meaning;
  /// Enters the value. @throws Error of kind input
  void (*set)(Options& options, const std::string& value);
  std::vector<std::string> words = {};  ///< all allowed values; empty: `set` decides
  bool repeatable = false;
  std::string excludes = {};  ///< flag of an option beside which it cannot stand

  std::string flag() const { return usage.substr(0, usage.find(' ')); }
  std::string long_flag() const { return flag().substr(flag().find("--")); }
  /// What its value is called; empty: a switch; "[V]" may be left out.
  std::string value() const { return usage.substr(std::min(usage.size(), flag().size() + 1)); }
};

/// A positional argument. "[X]" may be left out, "X..." takes any number.
struct Target {
  std::string name;
  std::string meaning;
  std::vector<std::string> words = {};  ///< all allowed values; empty: the verb decides

  bool optional() const { return name.front() == '['; }
  bool many() const { return name.find("...") != std::string::npos; }
  /// Whether names of studies may stand there.
  bool takes_studies() const { return name.find("STUDY") != std::string::npos; }
};

/// A verb: `attica NAME TARGETS OPTIONS`.
struct Verb {
  std::string name;
  std::vector<std::string> targets;  ///< by their names
  std::string summary;
  std::vector<Takes> takes;
  int (*run)(const Options&, const Registry&);
};

const std::vector<Verb>& verbs();
/// @brief The options of a verb, in the order in which help shows them.
std::vector<Option> options_of(const Verb& verb);
std::vector<Target> targets_of(const Verb& verb);

}  // namespace attica::app
