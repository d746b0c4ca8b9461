#pragma once
/// @file
/// @brief What each verb does, given its options. Results go to standard output, talk to standard
/// error; the return value is the exit code.

#include <optional>
#include <string>
#include <vector>

#include "attica/app/configuration/configuration_file.hpp"
#include "attica/app/run/run.hpp"
#include "attica/app/run/run_folder.hpp"
#include "attica/plots/draw.hpp"
#include "attica/sources/table.hpp"
#include "attica/studies/registry.hpp"
#include "attica/studies/study.hpp"

namespace attica::app {

/// Options of all verbs; each verb offers those it uses.
struct Options {
  std::string target;              ///< a study, a TOML file or a run folder, as the verb says
  std::string second_target;       ///< of verbs that take two
  std::vector<std::string> files;  ///< of verbs that take any number
  std::string preset;
  std::vector<Override> overrides;
  int threads = 0;                 ///< 0: all processors
  std::optional<std::string> out;  ///< folder that receives run folders; "runs" for most verbs
  std::string name;                ///< empty: the study's
  std::optional<double> max_seconds;
  std::optional<double> margin;
  std::vector<std::string> formats;  ///< empty: as configured
  std::string style;
  std::string width;
  std::string archive = "artifact.zip";  ///< artifact: the file to write
  double power = 0.9;                    ///< plan: probability of AGREE
  bool until_decided = false;            ///< run: stop as soon as the verdict is known
  std::string x = "x";                   ///< judge: name of x; map: "model.rho=0.1..0.9:5"
  std::string y;                         ///< map: the same of the other axis
  int depth = 2;                         ///< map: how often squares are bisected
  std::vector<std::string> map_series;   ///< map: the series that count; empty: see there
  double absolute = 0;                   ///< judge: absolute margin
  std::string tails = "guarded";         ///< judge: "guarded", "normal" or "rate"
  std::string series;                    ///< fit: the series
  std::vector<std::string> sizes;        ///< fit: names of x, several at once
  std::vector<std::string> expected;     ///< fit: "T=1.5", an exponent of a joint fit or collapse
  std::vector<std::string> windows;      ///< fit: "T=100:2000"
  std::vector<std::string> corrections;  ///< fit: "inverse:T"
  std::string collapse;                  ///< fit: the size whose curves are to fall on one
  std::vector<std::string> held;         ///< fit --collapse: "a=1"
  std::vector<std::string> starts;       ///< fit --collapse: "x_c=0.5"
  std::optional<double> exponent;        ///< fit: the expected one
  bool upper_bound = false;              ///< fit: the exponent is a bound
  bool extrapolate = false;              ///< check: the limit of infinite size
  bool self_test = false;                ///< check: measure the error rates of the verdict itself
  bool full = false;                     ///< self-test with more repetitions
  bool json = false;
  bool quiet = false;
  bool dry_run = false;
  std::optional<Shard> shard;  ///< run: only this part of the pieces
  std::size_t shards = 8;      ///< slurm: tasks of the array
  bool resume = false;
  bool force = false;
  bool accept_edits = false;                    ///< judge what was changed after the run
  std::vector<std::string> perturbations = {};  ///< errors for the theory: "model.rho=0.72"
  bool perturbed = false;                       ///< gallery: the wrong theories of every study
  bool sensitivity = false;                     ///< check: smallest changes that would be noticed
  std::optional<double> resolution;             ///< plan: relative error of a theory to be noticed
  std::optional<std::string> in_tree;           ///< new: checkout that receives the study
  int port = 0;                                 ///< explore: 0: any that is free
  std::vector<std::string> overlays;            ///< explore: tables and run folders over the theory
  std::string export_file;                      ///< explore: the page as a file
  std::vector<std::string> grids;  ///< explore: "model.rho=[0.1, 0.5]", computed for the file
  bool allow_commands = false;     ///< explore: simulations that a configuration gives as commands
  sources::TableColumns columns;   ///< judge, fit: columns of the simulation's table
  std::vector<std::string> command_line;
  bool floor = false;                   ///< fit: y = floor + C x^p
  std::optional<double> floor_value;    ///< fit: the floor, not fitted
  std::optional<double> tolerance;      ///< fit, bound: of an exponent, against the expected one
  std::optional<double> match;          ///< judge: relative distance up to which numbers match
  bool partial = false;                 ///< judge: simulated points without theory are announced
  std::string cluster;                  ///< judge: column whose means are the replicates
  bool independent = false;             ///< judge: the order of replicates is not tested
  std::vector<double> quantiles;        ///< fit: of the replicates; empty: the median
  bool robust = false;                  ///< fit --floor: Huber's loss over replicates
  std::vector<double> reach;            ///< fit, bound: where learning curves fall to these values
  std::string along;                    ///< fit, bound: what those curves run along; empty: x
  std::string expression;               ///< bound: the formula
  std::string direction = "upper";      ///< bound: "upper" or "lower"
  std::string constant;                 ///< bound: a name of the formula that is not known
  std::optional<double> probability;    ///< bound: with which it is stated; none: always
  std::optional<double> planned_width;  ///< plan: of the interval that a fit or a bound shall have
  std::string junit;                    ///< run, check, judge: file for JUnit XML
  std::string metrics;                  ///< run, check, judge: file for a few numbers
  std::string folder;                   ///< run, judge: the run folder itself
  std::string tokens = "columns";       ///< measure: what a token is, "columns" or "rows"
  std::string topics;                   ///< measure: file with the topic of every token
  bool as_series = false;               ///< measure: the files are checkpoints of one training
  std::optional<std::string> paper;     ///< figure: "2410.23438:1"; empty text: list them
};

int demo_verb(const Options& options, const Registry& registry);
int list_verb(const Options& options, const Registry& registry);
int show_verb(const Options& options, const Registry& registry);
int init_verb(const Options& options, const Registry& registry);
int theory_verb(const Options& options, const Registry& registry);
int run_verb(const Options& options, const Registry& registry);
int merge_verb(const Options& options, const Registry& registry);
int slurm_verb(const Options& options, const Registry& registry);
int gallery_verb(const Options& options, const Registry& registry);
int map_verb(const Options& options, const Registry& registry);
int check_verb(const Options& options, const Registry& registry);
int plot_verb(const Options& options, const Registry& registry);
int figure_verb(const Options& options, const Registry& registry);
int explore_verb(const Options& options, const Registry& registry);
int mcp_verb(const Options& options, const Registry& registry);
int measure_verb(const Options& options, const Registry& registry);
int plan_verb(const Options& options, const Registry& registry);
int judge_verb(const Options& options, const Registry& registry);
int audit_verb(const Options& options, const Registry& registry);
int bound_verb(const Options& options, const Registry& registry);
int fit_verb(const Options& options, const Registry& registry);
int report_verb(const Options& options, const Registry& registry);
int status_verb(const Options& options, const Registry& registry);
int compare_verb(const Options& options, const Registry& registry);
int cite_verb(const Options& options, const Registry& registry);
int claims_verb(const Options& options, const Registry& registry);
int config_verb(const Options& options, const Registry& registry);
int migrate_verb(const Options& options, const Registry& registry);
int schema_verb(const Options& options, const Registry& registry);
int new_verb(const Options& options, const Registry& registry);
int doctor_verb(const Options& options, const Registry& registry);
int completion_verb(const Options& options, const Registry& registry);
int rerun_verb(const Options& options, const Registry& registry);
int artifact_verb(const Options& options, const Registry& registry);
int man_verb(const Options& options, const Registry& registry);

/// @brief What a study's quick settings must yield.
Verdict quick_verdict(const Study& study);
/// @brief The work that a verb's target and options ask for.
Work requested_work(const Options& options, const Registry& registry);
/// @brief The same, to be simulated. @throws Error of kind input also for what is too large for
/// that
Work requested_simulation(const Options& options, const Registry& registry);
/// @brief The run that a verb's options ask for.
RunRequest run_request(const Options& options);
/// @brief A JSON value on standard output, indented, with its schema (`versioned`).
void print(std::string_view kind, Json json);
/// @brief What a finished run prints; returns its exit code.
int announce(const RunEnd& end, bool json);

/// A finished run with everything its verdict and figure are made of.
struct FinishedRun {
  RunRecord record;
  CheckedConfiguration configuration;
  Replicates replicates;

  /// @throws Error of kind input for what is no run folder, storage for a run that is not finished
  /// or whose files were edited, unless that is accepted
  FinishedRun(const std::string& folder, const Registry& registry, bool accept_edits = false);
};

/// @brief --format, --style, --width and --force.
void enter_drawing_options(const Options& options, DrawOptions& drawing);
/// @brief Draws, unless a script was edited and may not be replaced; says which older files stay.
std::vector<std::filesystem::path> draw_files(const Options& options,
                                              const Figure& figure,
                                              const FigureData& data,
                                              const DrawOptions& drawing);

/// @brief `check --extrapolate` and `check --self-test` on a run that has been read.
int extrapolate_check(const Options& options, const FinishedRun& run);
int self_test_check(const Options& options, const FinishedRun& run);
/// @brief `check --perturb`: the verdict on a theory that is wrong on purpose; nothing is written.
int perturbed_check(const Options& options, const FinishedRun& run, const Registry& registry);
/// @brief The verdict on a run if its theory had these errors. @throws Error of kind input if the
/// wrong theory says nothing at some of the compared points
CheckRecord verdict_on_perturbed(const FinishedRun& run,
                                 const Registry& registry,
                                 const std::vector<std::string>& perturbations,
                                 std::optional<double> margin = std::nullopt);
/// @brief `check --sensitivity`: the smallest change of each parameter that the run would notice.
int sensitivity_check(const Options& options, const FinishedRun& run, const Registry& registry);

}  // namespace attica::app
