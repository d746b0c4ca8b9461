#pragma once
/// @file
/// @brief From a recorded run to its verdict and figure: the one way both `run` and the later verbs
/// go.

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "attica/app/run/run_folder.hpp"
#include "attica/app/verdict/check.hpp"
#include "attica/plots/draw.hpp"

namespace attica::app {

/// @brief The configuration a run recorded. @throws Error of kind storage if it is damaged
CheckedConfiguration recorded_configuration(const RunRecord& run, const Registry& registry);

/// @brief Files that the run read and that hold something else now.
std::vector<std::filesystem::path> changed_inputs(const RunRecord& run);

/// @brief The observations a finished run recorded, all of them. @throws Error of kind storage if
/// replicates.csv is damaged or not complete
Replicates recorded_replicates(const RunRecord& run);
/// @brief Hands out every problem of a run's sweep: its values, its coordinates, and what was
/// observed of it, without those coordinates. Studies do not know of what the run puts before their
/// points.
void each_problem(
    const CheckedConfiguration& configuration,
    const Observed& all,
    const std::function<void(
        const Configuration& values, const Point& coordinates, const Observed& observed)>& use);

/// What is claimed of: every problem of a sweep, or the sweep as a whole, too.
enum class ClaimsOf { problems, all };

/// @brief What a study claims, for every problem of a sweep on its own, and the exponents that it
/// states in what is swept over four values or more; each claim judged alone.
std::vector<ClaimResult> judge_claims(const CheckedConfiguration& configuration,
                                      const Observed& all,
                                      ClaimsOf of = ClaimsOf::all);

/// @brief How the sides that a configuration brings are compared; empty for a built-in study.
std::optional<BroughtSides> brought_sides(const CheckedConfiguration& configuration);

/// @brief How a run's points find their theory.
ComparisonOptions comparison_options(const CheckedConfiguration& configuration);

/// @brief Refuses, before the simulation, a comparison of brought sides of which nothing can come:
/// a declared series that the theory does not have, or tables without any place in common. @throws
/// Error of kind input with the reason
void require_common_place(const Work& work,
                          std::span<const Prediction> theory,
                          std::span<const AgreementRule> rules);

/// @brief The verdict.
/// @param margin relative margin given after the run; recorded as post hoc
CheckRecord judge_run(const RunRecord& run,
                      const CheckedConfiguration& configuration,
                      const Replicates& replicates,
                      std::optional<double> margin = std::nullopt);

/// @brief The verdict of some series alone. @param left_out series that are not compared
/// @param claims whether the study's claims count
CheckRecord judge_series(const RunRecord& run,
                         const CheckedConfiguration& configuration,
                         const Replicates& replicates,
                         const std::set<std::string>& left_out,
                         bool claims);

/// @brief The verdict if the theory were another one, e.g. a wrong one perturbed on purpose.
CheckRecord judge_run_against(const RunRecord& run,
                              const std::vector<Prediction>& theory,
                              const std::vector<std::string>& perturbed,
                              const CheckedConfiguration& configuration,
                              const Replicates& replicates,
                              std::optional<double> margin = std::nullopt);
/// @brief The study's figure with what [figure] of the configuration says. That of brought sides
/// has a panel for every series that was recorded.
Figure figure_of(const RunRecord& run,
                 const CheckedConfiguration& configuration,
                 const Replicates& replicates);

/// @brief What the run's figure is drawn from: its curves, and the lines of exponents and bounds.
FigureData figure_data(const RunRecord& run,
                       const CheckedConfiguration& configuration,
                       const Replicates& replicates,
                       const CheckRecord& verdict);

/// @brief Shades the limits of the quantiles that bounds are compared with, where the figure shows
/// them.
void shade_bounds(const Figure& figure, const FigureData& data, DrawOptions& drawing);

/// @brief How it is drawn: into plots/ of the run folder, as configured, with the run's identity
/// inside the files.
DrawOptions draw_options(const RunRecord& run,
                         const CheckedConfiguration& configuration,
                         const Figure& figure,
                         const CheckRecord& verdict);

}  // namespace attica::app
