#pragma once
/// @file
/// @brief What a study is: one theory and one simulation of the same problem, its figure and its
/// agreement rule.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attica/core/figure.hpp"
#include "attica/core/random.hpp"
#include "attica/core/series.hpp"
#include "attica/core/value.hpp"
#include "attica/solvers/statistics/verdict.hpp"
#include "attica/studies/configuration.hpp"

namespace attica {

/// What `Experiment::theory` is asked for.
enum class TheoryGrid {
  requested,  ///< exactly the configured points (`attica theory`)
  run,        ///< the points the simulation realises, and whatever a smooth line needs between them
};

/// @brief All predictions of a study's theory. A value of +inf says that the mathematics diverges
/// there; NaN says that the computation failed. Neither is ever printed: both are listed by the
/// caller.
struct TheoryResult {
  std::vector<Prediction> predictions;
  Table diagnostics = {};
  std::vector<std::string> warnings = {};
};

/// Of files in which replicates keep their state.
inline constexpr std::string_view kStateExtension = ".state";

/// @brief A piece of work: a block of replicates at one point of the experiment.
struct Piece {
  std::size_t point = 0;  ///< index of the point within the experiment
  std::uint64_t stream_point =
      0;  ///< number of the point in the whole run: the `point` of its streams
  std::uint64_t first_replicate = 0;
  std::uint64_t replicates = 1;
  std::uint64_t seed = 0;  ///< master seed
  std::stop_token stop =
      {};  ///< a long piece may return early when asked to; its result is then dropped
  /// How the names of files begin in which long replicates keep their state, to be carried on by a
  /// later call; empty: none is kept.
  std::filesystem::path state = {};

  /// @brief The file of a replicate's state; empty: none is kept.
  /// @param replicate number in the run
  std::filesystem::path state_file(std::uint64_t replicate) const;

  /// @brief Where a replicate's random numbers of that use come from.
  /// @param replicate number in the run
  StreamAddress stream(std::uint64_t replicate, StreamId id = StreamId::data) const {
    return {.seed = seed, .id = id, .point = stream_point, .replicate = replicate};
  }
};

/// @brief One replicate's observations and how it ended.
struct Outcome {
  std::vector<Series> series;
  std::string status = "finished";  ///< a word the study defines: "finished", "diverged", ...
  bool failed = false;              ///< true: a numerical failure; the run ends with exit code 4
  std::string message = {};         ///< for `failed`: what happened, with the step or time
};

/// @brief The outcomes of a piece's replicates, one after the other, until it is asked to stop.
/// @param simulate takes the number of the replicate in the run
std::vector<Outcome> each_replicate(const Piece& piece,
                                    const std::function<Outcome(std::uint64_t)>& simulate);

/// @brief A resolved problem: the configured theory and simulation. Immutable; used by many threads
/// at once.
class Experiment {
 public:
  virtual ~Experiment() = default;

  virtual TheoryResult theory(TheoryGrid grid) const = 0;

  /// @brief Number of independent points that are simulated; 0 for a study of theory alone.
  virtual std::size_t points() const = 0;
  /// @brief Replicates per piece of work at a point, chosen so that a piece takes about a second or
  /// less. A function of the configuration alone: never of the number of threads or replicates.
  virtual std::uint64_t replicates_per_piece(std::size_t point) const = 0;
  /// @brief Work of a replicate at a point against that at others, in any unit; 0: not known.
  virtual double relative_work(std::size_t /*point*/) const { return 0; }
  /// @brief Makes, on all threads, what pieces share and is long in the making. It is made at its
  /// first use otherwise, by one thread while the others wait.
  virtual void prepare() const {}
  /// @brief Simulates the replicates of a piece, in order. Replicate r draws only from streams
  /// addressed by (seed, stream_point, r).
  virtual std::vector<Outcome> simulate(const Piece& piece) const = 0;

  /// Refuses, before any work, what can be predicted but not simulated: too much memory. @throws
  /// Error (input) naming the parameter
  virtual void require_simulable() const {}

  /// @brief Facts about the resolved problem (condition number, dropped columns, ...).
  virtual Table diagnostics() const { return {}; }
  /// @brief Sentences the user should read before believing the results.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// A quantity that the study's theory or simulation yields.
struct SeriesInfo {
  std::string name;
  std::string symbol;   ///< as in the literature, plain UTF-8
  std::string meaning;  ///< one line with normalisation
};

/// @brief How one series is compared: margin = absolute + relative |theory| + the prediction's own
/// allowances.
struct AgreementRule {
  std::string series = {};
  double relative = 0.05;
  double absolute = 0;
  Tails tails = Tails::guarded;
  bool deterministic = false;  ///< replicates are identical by design
  /// A control: it watches the simulation's own code. It is judged as strictly as the others and
  /// reported apart from them; it is no point of the user's comparison.
  bool control = false;
};

/// @brief How a theory and a simulation that users bring (tables, programs, formulas) are compared.
struct BroughtSides {
  bool theory = false;  ///< there is one to compare with
  std::string x_name;
  std::vector<std::string> compared;  ///< series that are to be compared
  std::vector<std::string> rates;  ///< series whose replicates are successes (1) and failures (0)
  /// Relative distance up to which x and coordinates match; empty: by their printed digits.
  std::optional<double> match;
  bool partial = false;     ///< simulated points without theory are no obstacle to AGREE
  bool from_table = false;  ///< the simulation is a table: nothing runs it anew
  bool summary = false;     ///< a table of means and errors: no replicate was seen
  bool ordered = false;     ///< replicates have an order in it, in which they may be correlated
  bool quick = false;       ///< the theory takes no program and no study
};

/// A simulated curve with all its replicates. At x[k] the values[k] belong to replicates[k], in
/// rising order; a replicate that ended early has no value at later x.
struct ObservedCurve {
  Series mean;  ///< y is the mean over replicates
  std::vector<std::vector<double>> values;
  std::vector<std::vector<std::uint64_t>> replicates;
};

/// What claims look at.
struct Observed {
  std::vector<Prediction> theory;
  std::vector<ObservedCurve> simulation;

  /// @brief The simulated curve of that name and point; null if there is none.
  const ObservedCurve* curve(std::string_view series, const Point& point = {}) const;
  /// @brief Its values at the last x, one a replicate that came so far; empty without a curve.
  std::vector<double> last(std::string_view series, const Point& point = {}) const;
  /// @brief Its values in the order of x, a list for every replicate that has any.
  std::vector<std::vector<double>> paths(std::string_view series, const Point& point = {}) const;
  /// @brief The theory's first value there: of a constant, the constant. Empty if there is none.
  std::optional<double> predicted(std::string_view series, const Point& point = {}) const;
};

/// A named statement on a probability or a mean over replicates, and how it came out.
struct ClaimResult {
  std::string name;       ///< short identifier
  std::string statement;  ///< what was claimed, with numbers
  Verdict verdict = Verdict::inconclusive;
  std::string detail;  ///< what was found, with its interval
  /// p-value of "the statement is wrong": small means that it holds. Empty where nothing is random.
  std::optional<double> p_agree = {};
  /// p-value of "the statement is right": small means that it fails.
  std::optional<double> p_disagree = {};
  /// The smallest p_disagree that so many replicates can come to.
  double least_p_disagree = 0;
  /// Whether it could have come to DISAGREE, however wrong it is, beside the run's other claims.
  bool refutable = true;
  /// INCONCLUSIVE only: replicates that would decide if the truth is what was seen.
  std::optional<std::size_t> replicates_needed = {};
};

/// A file of a run's folder that a study writes besides the tables.
struct TextFile {
  std::string name;
  std::string content;
};

/// Paper, and what of it is used.
struct Source {
  std::string key;  ///< BibTeX key
  std::string title;
  std::string authors;
  int year = 0;
  std::string arxiv;  ///< identifier, e.g. "2304.07235"
  std::string used;   ///< equations, figures
};

/// Named set of parameter values.
struct Preset {
  std::string name;
  std::string meaning;
  Table values;  ///< overrides of the defaults
};

/// A run with a known outcome, which `attica gallery` repeats besides the study's quick settings.
struct ReferenceRun {
  std::string name;         ///< of the run, e.g. "gauss-sgd-few-runs"
  std::string meaning;      ///< why it comes out as it does
  std::string preset = {};  ///< empty: the quick settings
  Table values = {};        ///< overrides
  Verdict expected = Verdict::disagree;
  /// Its `model.file` does not come with attica but by `./dev data`: where it is not there, the
  /// gallery leaves the reference_run out and says so.
  bool fetched = false;
};

/// A margin of the limit of large size.
struct LimitRule {
  std::string series;
  double relative = 0;
  double absolute = 0;
  double power = 0;  ///< of the leading correction; 0: that of the study
};

/// A theory that is wrong on purpose, chosen before any data were seen: a verdict that cannot tell
/// it from the right one is blunt. The theory's own values of parameters, or a series times a
/// factor.
struct PerturbedTheory {
  std::string name;         ///< short identifier
  Table values = {};        ///< parameters that only the theory gets
  std::string series = {};  ///< the series that the factor is for
  double factor = 1;
  std::string meaning = {};  ///< whose mistake it is
};

/// @brief A scaling exponent that theory predicts or bounds, for `attica fit`: y grows like
/// x^exponent.
struct ExponentClaim {
  std::string name;    ///< short identifier
  std::string series;  ///< y > 0, one value a replicate; missing = never reached
  std::string x_name;  ///< the size
  Point only = {};     ///< the curve with exactly this point
  double exponent = 0;
  bool upper_bound = false;  ///< a bound rather than a prediction
  std::string meaning = {};  ///< where the exponent comes from
  /// Series with the value at which a replicate gave up; needed where values may be missing.
  std::string cap_series = {};
};

/// @brief The unit that users name and contributors add.
struct Study {
  std::string name = {};           ///< e.g. "gauss-double-descent"
  std::string question = {};       ///< one line
  std::string approximation = {};  ///< what the theory neglects, hence the margin
  std::string neglects = {};       ///< deprecated: its name before 0.9
  /// Which points have a theory that is not compared, and why. Needed by every study that marks
  /// such points.
  std::string not_compared = {};
  std::string outside = {};  ///< deprecated: its name before 0.9
  std::vector<Parameter> parameters = {};
  std::vector<SeriesInfo> series = {};
  std::vector<Preset> presets = {};
  std::vector<Source> sources = {};
  /// Builds the problem; may complete the configuration with values that follow from others or from
  /// files.
  /// @throws Error of kind input naming the parameter
  std::function<std::unique_ptr<Experiment>(Configuration&)> make = {};
  std::function<Figure(const Configuration&)> figure = {};
  std::function<std::vector<AgreementRule>(const Configuration&)> agreement = {};
  /// Optional: the point coordinate that is the size of the system, and the power p of the leading
  /// correction, difference = a + b size^-p, for `check --extrapolate`.
  std::string size_coordinate = {};
  double size_power = 1;
  /// Margins of that limit for series whose rule leaves everything to finite size, which is gone in
  /// it. Series without any margin are told there, not judged.
  std::vector<LimitRule> limits = {};
  /// Optional: claims beyond the comparison of curves.
  std::function<std::vector<ClaimResult>(const Configuration&, const Observed&)> claims = {};
  /// Optional: exponents that `attica fit` compares with.
  std::function<std::vector<ExponentClaim>(const Configuration&)> exponents = {};
  /// Optional: tables in a form that other programs of the field read.
  std::function<std::vector<TextFile>(const Configuration&, const Observed&)> files = {};
  /// Optional: settings with a known verdict: where the theory fails, where data do not suffice,
  /// real data. The quick settings themselves must yield AGREE.
  std::vector<ReferenceRun> reference_runs = {};
  std::vector<ReferenceRun> recipes = {};  ///< deprecated: its name before 0.9
  /// Wrong theories that the quick settings must reject.
  std::vector<PerturbedTheory> perturbed = {};
  std::vector<PerturbedTheory> plants = {};  ///< deprecated: its name before 0.9
  /// Keys that were called otherwise before: old, new.
  std::vector<std::pair<std::string, std::string>> renamed = {};
  /// Series that are recorded to be read in the tables: neither drawn nor judged.
  std::vector<std::string> diagnostic = {};
  /// Names of its `files` that the report shows.
  std::vector<std::string> shown = {};
  /// Optional: makes the study that a configuration's entries (flat dotted keys) define. Such a
  /// study takes any key of [model], and its numbers are the user's.
  std::function<std::shared_ptr<const Study>(const Table&)> defined_by = {};
  /// Optional: how the sides are compared that its configuration brings.
  std::function<BroughtSides(const Configuration&)> brought = {};
  /// Optional: enters into a run's configuration what its problems completed, one after the other.
  std::function<void(Configuration& run, const Configuration& problem, bool first)> complete = {};
  /// Optional: the commented configuration to start from, in place of one made of the parameters.
  std::string starting_text = {};
};

using Recipe [[deprecated("ReferenceRun")]] = ReferenceRun;  ///< name before 0.9
using Plant [[deprecated("PerturbedTheory")]] =
    PerturbedTheory;  ///< deprecated: its name before 0.9

/// @brief A study that was written with the names before 0.9, under today's.
/// @throws Error (input) if it uses both names of a member
Study with_current_names(Study study);

/// @brief The studies that come with attica, in the order of `attica list`.
const std::vector<Study>& studies();

/// @brief The families of studies that this build leaves out (ATTICA_FAMILIES), usually none.
const std::vector<std::string>& absent_families();

/// @brief The one of them that has this name. @throws std::logic_error if there is none
const Study& study_named(std::string_view name);

}  // namespace attica

// Written once, in study.cpp: every study has them.
extern template class std::vector<attica::Parameter>;
extern template class std::vector<attica::Preset>;
extern template class std::vector<attica::SeriesInfo>;
extern template class std::vector<attica::Source>;
extern template class std::vector<attica::ReferenceRun>;
extern template class std::vector<attica::AgreementRule>;
extern template class std::vector<attica::ClaimResult>;
extern template class std::vector<attica::Panel>;
extern template class std::vector<attica::Layer>;
extern template class std::vector<attica::Prediction>;
extern template class std::vector<attica::Series>;
extern template class std::vector<attica::Outcome>;
extern template class std::vector<attica::ObservedCurve>;
