#include "attica/studies/joined_experiments.hpp"

#include <iterator>

namespace attica {
namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

JoinedExperiments::JoinedExperiments(std::unique_ptr<Experiment> first,
                                     std::unique_ptr<Experiment> second)
    : first_(std::move(first)), second_(std::move(second)) {}

std::pair<const Experiment&, std::size_t> JoinedExperiments::at(std::size_t point) const {
  const std::size_t points = first_->points();
  if (point < points) return {*first_, point};
  return {*second_, point - points};
}

TheoryResult JoinedExperiments::theory(TheoryGrid grid) const {
  TheoryResult both = first_->theory(grid);
  TheoryResult more = second_->theory(grid);
  append(both.predictions, std::move(more.predictions));
  append(both.diagnostics, std::move(more.diagnostics));
  append(both.warnings, std::move(more.warnings));
  return both;
}

std::uint64_t JoinedExperiments::replicates_per_piece(std::size_t point) const {
  const auto [experiment, own] = at(point);
  return experiment.replicates_per_piece(own);
}

double JoinedExperiments::relative_work(std::size_t point) const {
  const auto [experiment, own] = at(point);
  return experiment.relative_work(own);
}

void JoinedExperiments::prepare() const {
  first_->prepare();
  second_->prepare();
}

std::vector<Outcome> JoinedExperiments::simulate(const Piece& piece) const {
  const auto [experiment, own] = at(piece.point);
  Piece part = piece;
  part.point = own;
  return experiment.simulate(part);
}

void JoinedExperiments::require_simulable() const {
  first_->require_simulable();
  second_->require_simulable();
}

Table JoinedExperiments::diagnostics() const {
  Table both = first_->diagnostics();
  append(both, second_->diagnostics());
  return both;
}

std::vector<std::string> JoinedExperiments::warnings() const {
  std::vector<std::string> both = first_->warnings();
  append(both, second_->warnings());
  return both;
}

}  // namespace attica
