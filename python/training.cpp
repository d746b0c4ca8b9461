#include "training.hpp"

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attica/core/parallel.hpp"
#include "attica/theory/training/first_order.hpp"
#include "attica/theory/training/flow.hpp"

namespace attica {
namespace {

namespace py = pybind11;
using Eigen::VectorXd;

/// model(theta, weights) -> (losses, gradient), whose shapes the package has checked; weights and
/// gradient may be None.
class PythonModel : public PopulationModel {
 public:
  PythonModel(const py::function& model, Eigen::Index parameters, VectorXd p)
      : model_(model), parameters_(parameters), p_(std::move(p)) {}

  Eigen::Index parameters() const override { return parameters_; }
  const VectorXd& weights() const override { return p_; }
  void pass(const VectorXd& theta,
            VectorXd& losses,
            const VectorXd* weights,
            VectorXd* gradient) const override {
    const py::gil_scoped_acquire locked;
    const py::object w = weights == nullptr ? py::object(py::none()) : py::cast(*weights);
    const auto answer = model_(theta, w).cast<py::tuple>();
    losses = answer[0].cast<VectorXd>();
    if (weights != nullptr) *gradient = answer[1].cast<VectorXd>();
  }

 private:
  const py::function& model_;
  Eigen::Index parameters_;
  VectorXd p_;
};

std::vector<Observable> observables_of(const std::vector<py::function>& functions) {
  std::vector<Observable> all;
  for (const py::function& f : functions) {
    all.emplace_back([&f](const VectorXd& theta) {
      const py::gil_scoped_acquire locked;
      return f(theta).cast<double>();
    });
  }
  return all;
}

/// Columns over the recorded steps.
class Columns {
 public:
  void add(const char* name, double value) { columns_[name].append(value); }
  void add(const Moment& m) {
    add("value", m.value());
    add("order_0", m.order_0);
    add("sd", m.sd());
    add("size", m.size);
    add("finite_size", m.finite_size());
    add("numerical_error", m.numerical_error);
  }
  py::dict dictionary() const {
    py::dict out;
    for (const auto& [name, values] : columns_) out[name.c_str()] = values;
    return out;
  }

 private:
  std::map<std::string, py::list> columns_;
};

Update update_of(const std::string& word) {
  return word == "adam"         ? Update::adam
         : word == "heavy_ball" ? Update::heavy_ball
                                : Update::descent;
}

Revisit revisit_of(const std::string& word) {
  return word == "replace"   ? Revisit::replace
         : word == "without" ? Revisit::without
                             : Revisit::epoch;
}

TheoryMethod::Kind kind_of(const std::string& word) {
  return word == "dense"   ? TheoryMethod::Kind::dense
         : word == "pairs" ? TheoryMethod::Kind::pairs
                           : TheoryMethod::Kind::low_rank;
}

/// @param rates of all steps to the last one
py::dict training(const py::function& function,
                  const VectorXd& start,
                  const VectorXd& p,
                  const std::vector<double>& rates,
                  const std::vector<std::uint64_t>& steps,
                  const py::dict& how,
                  const std::vector<py::function>& observables) {
  TrainingPlan plan{
      .start = start,
      .rate =
          [&](std::uint64_t step) { return rates[std::min<std::size_t>(step, rates.size() - 1)]; },
      .update = update_of(how["update"].cast<std::string>()),
      .momentum = how["momentum"].cast<double>(),
      .decay = how["decay"].cast<double>(),
      .decoupled = how["decoupled"].cast<bool>(),
      .beta1 = how["beta1"].cast<double>(),
      .beta2 = how["beta2"].cast<double>(),
      .epsilon = how["epsilon"].cast<double>(),
      .clip_norm = how["clip_norm"].cast<double>(),
      .batch = how["batch"].cast<std::int64_t>(),
      .samples = how["samples"].cast<std::int64_t>(),
      .revisit = revisit_of(how["revisit"].cast<std::string>()),
      .recorded = steps};
  const TheoryMethod method{.kind = kind_of(how["method"].cast<std::string>()),
                            .rank = how["rank"].cast<Eigen::Index>(),
                            .pairs = how["pairs"].cast<int>(),
                            .hold = how["hold"].cast<std::uint64_t>(),
                            .step = how["step"].cast<double>(),
                            .seed = how["seed"].cast<std::uint64_t>()};
  const PythonModel model(function, start.size(), p);
  std::vector<TrainingTheoryRecord> records;
  {
    const py::gil_scoped_release unlocked;
    const ThreadLimit one(1);  // threads would wait for each other's turn with the interpreter
    records = training_theory(model, plan, observables_of(observables), method);
  }
  std::vector<Columns> columns(3 + observables.size());
  py::list undescribed, sharpness, growth;
  for (const TrainingTheoryRecord& record : records) {
    columns[0].add(record.loss);
    columns[1].add(record.train_loss);
    columns[2].add(record.batch_loss);
    for (std::size_t k = 0; k < observables.size(); ++k) columns[3 + k].add(record.observed[k]);
    undescribed.append(record.undescribed);
    sharpness.append(record.sharpness);
    growth.append(record.growth);
  }
  py::list moments;
  for (const Columns& one : columns) moments.append(one.dictionary());
  py::dict out;
  out["moments"] = moments;
  out["undescribed"] = undescribed;
  out["sharpness"] = sharpness;
  out["growth"] = growth;
  return out;
}

py::list flow(const py::function& function,
              const VectorXd& start,
              const VectorXd& p,
              const std::vector<double>& times,
              double decay,
              const std::vector<py::function>& observables) {
  const PythonModel model(function, start.size(), p);
  std::vector<TrainingFlowRecord> records;
  {
    const py::gil_scoped_release unlocked;
    const ThreadLimit one(1);
    records = training_flow(model, start, times, observables_of(observables), decay);
  }
  std::vector<Columns> columns(1 + observables.size());
  for (const TrainingFlowRecord& record : records) {
    columns[0].add(record.loss);
    for (std::size_t k = 0; k < observables.size(); ++k) columns[1 + k].add(record.observed[k]);
  }
  py::list moments;
  for (const Columns& one : columns) moments.append(one.dictionary());
  return moments;
}

}  // namespace

void bind_training(py::module_& module) {
  module.def("training", training);
  module.def("training_flow", flow);
}

}  // namespace attica
