/// @file
/// @brief Study icl-alignment: error of linear attention in context on tasks of another covariance
/// than those it was trained on.

#include "attica/core/icl/regression.hpp"
#include "attica/sim/icl/ridge.hpp"
#include "attica/studies/icl/ridge_sweep.hpp"

namespace attica::icl_alignment {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;

using Spectrum = ArrayXd (*)(Index d);

/// Shapes of spectra; they are scaled to mean 1.
const Choices<Spectrum>& spectra() {
  static const Choices<Spectrum> all = {
      {"flat", [](Index d) -> ArrayXd { return ArrayXd::Ones(d); }},
      {"ramp", [](Index d) -> ArrayXd { return ArrayXd::LinSpaced(d, 1, static_cast<double>(d)); }},
      {"ramp-reversed",
       [](Index d) -> ArrayXd { return ArrayXd::LinSpaced(d, static_cast<double>(d), 1); }},
      {"half",
       [](Index d) -> ArrayXd {
         constexpr double kFaint = 1e-3;
         ArrayXd s = ArrayXd::Constant(d, kFaint);
         s.head(d / 2).setOnes();
         return s;
       }},
      {"power", [](Index d) -> ArrayXd {
         constexpr double kPower = -0.5;
         return ArrayXd::LinSpaced(d, 1, static_cast<double>(d)).pow(kPower);
       }}};
  return all;
}

ArrayXd spectrum(const std::string& word, Index d) {
  const ArrayXd shape = spectra()(word)(d);
  return shape / shape.mean();
}

/// The point of what is told of the training sequences.
const Point kTraining = {{"test_spectrum", std::string("none")}};

class Alignment : public PointwiseExperiment {
 public:
  explicit Alignment(const Configuration& c)
      : configuration_(c),
        dimension_(c.integer("model.dimension")),
        train_(spectrum(c.text("model.train_spectrum"), dimension_)),
        tests_(c.texts("sweep.test_spectrum")),
        level_(context_level(c)),
        alpha_test_(c.has("model.alpha_test") ? c.real("model.alpha_test") : c.real("model.alpha")),
        kappas_(ascending(c.reals("sweep.kappa"))),
        rho_(c.real("model.rho")),
        lambda_(c.real("model.lambda")),
        pool_([this] {
          RandomStream stream({.seed = configuration_.integer<std::uint64_t>("model.pool_seed"),
                               .id = StreamId::model});
          return gaussian_pool(sizes_.back().tasks, train_, stream);
        }) {
    for (const double kappa : kappas_)
      sizes_.push_back(ContextSizes::nearest(dimension_, at(kappa)));
    require_pool(sizes_.back(), "sweep.kappa", kappas_.back());
    const ContextSizes test =
        ContextSizes::nearest(dimension_, {.alpha = alpha_test_, .tau = c.real("model.tau")});
    test_context_ = static_cast<double>(test.context);
    rounded_ = rounded_ratios(c, dimension_);
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const bool run = grid == TheoryGrid::run;
    std::vector<double> xs = kappas_;
    if (run) {
      xs.clear();
      for (const ContextSizes& sizes : sizes_) xs.push_back(sizes.realised({}).kappa);
      xs = line_between(ascending(std::move(xs)), AxisScale::log, grid, context_line_parts(level_));
    }
    if (level_ != ContextLevel::limit) {
      for (double& x : xs) x = ContextSizes::nearest(dimension_, at(x)).realised({}).kappa;
      xs = ascending(std::move(xs));
    }
    std::vector<Curves> curves;
    for (const std::string& word : tests_) {
      curves.emplace_back(Point{{"test_spectrum", word}}, "kappa", std::vector<std::string>{"icl"});
    }
    for (const double kappa : xs) {
      ContextRatios r = at(kappa);
      if (run) {
        const ContextRatios whole = sizes_.front().realised(r);
        r.alpha = whole.alpha;
        r.tau = whole.tau;
      }
      const std::vector<ContextErrors> errors = at_point({{"kappa", kappa}}, [&] {
        return level_ == ContextLevel::limit ? limits(r, run) : given_its_pool(kappa);
      });
      for (std::size_t k = 0; k < tests_.size(); ++k) {
        const ContextErrors& e = errors[k];
        curves[k].add(kappa, {with_allowance(e.icl, level_, r, e.one_minus_gamma, dimension_)});
      }
    }
    TheoryResult result;
    for (std::size_t k = 0; k < tests_.size(); ++k) {
      const std::string& word = tests_[k];
      curves[k].into(result);
      add_constant(result,
                   "limit_icl",
                   limit_value(limit(word, middle().realised(at(1)), true), dimension_),
                   {{"test_spectrum", word}});
      add_constant(result, "context_square", square(test_moments(word)), {{"test_spectrum", word}});
    }
    add_constant(result, "context_square", training_square(), kTraining);
    return result;
  }

  std::size_t points() const override { return sizes_.size(); }
  void require_simulable() const override {
    PointwiseExperiment::require_simulable();
    for (const ContextSizes& sizes : sizes_) sizes.require_memory(configuration_);
  }

 protected:
  double flops(std::size_t point) const override {
    return ContextRidge::flops(
        static_cast<double>(dimension_), static_cast<double>(sizes_[point].samples), 1);
  }

  Outcome run(const Replicate& replicate) const override {
    const ContextSizes& sizes = sizes_[replicate.point()];
    RandomStream model = replicate.stream(StreamId::model);
    RandomStream data = replicate.stream();
    const MatrixXd pool = fresh_pool() ? gaussian_pool(sizes.tasks, train_, model)
                                       : MatrixXd(pool_.get().topRows(sizes.tasks));
    const ContextSequences sequences = draw_sequences(
        pool, {.length = static_cast<double>(sizes.context), .rho = rho_}, sizes.samples, data);
    const MatrixXd gamma = ContextRidge(sequences).fit(lambda_);
    Outcome outcome;
    for (const std::string& word : tests_) {
      Curves({{"test_spectrum", word}}, "kappa", {"icl"})
          .add(sizes.realised({}).kappa,
               std::vector<double>{population_error(gamma, test_moments(word))})
          .into(outcome);
    }
    if (&sizes == &sizes_.back()) {
      const auto drawn_square = [&](const ContextSequences& drawn) {
        return drawn.contexts.topRows(dimension_).squaredNorm() /
               static_cast<double>(drawn.labels.size() * dimension_);
      };
      add_constant(outcome, "context_square", drawn_square(sequences), kTraining);
      for (const std::string& word : tests_) {
        constexpr Index kTests = 1000;
        const MatrixXd tasks = gaussian_pool(kTests, spectrum(word, dimension_), model);
        add_constant(outcome,
                     "context_square",
                     drawn_square(draw_sequences(
                         tasks, {.length = test_context_, .rho = rho_}, kTests, data)),
                     {{"test_spectrum", word}});
      }
    }
    if (&sizes == &middle()) {
      RandomStream pools = replicate.stream(StreamId::selection);
      for (const std::string& word : tests_) {
        add_constant(outcome,
                     "limit_icl",
                     towards_limit(dimension_, [&](Index t) { return larger(word, t, pools); }),
                     {{"test_spectrum", word}});
      }
    }
    return outcome;
  }

 private:
  /// Mean square of h.
  double square(const ContextMoments& moments) const {
    return moments.second.diagonal().head(dimension_).mean();
  }
  ContextMoments test_moments(const std::string& word) const {
    return gaussian_moments(spectrum(word, dimension_), {.length = test_context_, .rho = rho_});
  }
  /// Of the largest training set. Sequences take the tasks of the pool in turn: the first tasks
  /// have one more than the others.
  double training_square() const {
    const ContextNoise noise{.length = static_cast<double>(sizes_.back().context), .rho = rho_};
    if (fresh_pool()) return square(gaussian_moments(train_, noise));
    const MatrixXd& pool = pool_.get();
    const Index sequences = sizes_.back().samples;
    const Index more = sequences % pool.rows();
    double sum = 0;
    if (more > 0) {
      sum += static_cast<double>(more) * square(pool_moments(pool.topRows(more), noise));
    }
    if (sequences > more) {
      sum += static_cast<double>(sequences - more) * square(pool_moments(pool, noise));
    }
    return sum / static_cast<double>(sequences);
  }
  bool fresh_pool() const { return configuration_.text("model.pool") == "fresh"; }
  const ContextSizes& middle() const { return sizes_[sizes_.size() / 2]; }

  ContextErrors limit(const std::string& word, const ContextRatios& ratios, bool run) const {
    return context_limit(
        ratios,
        {.train = train_,
         .test = spectrum(word, dimension_),
         .alpha_test = run ? test_context_ / static_cast<double>(dimension_) : alpha_test_});
  }
  std::vector<ContextErrors> limits(const ContextRatios& ratios, bool run) const {
    std::vector<ContextErrors> all;
    for (const std::string& word : tests_) all.push_back(limit(word, ratios, run));
    return all;
  }
  std::vector<ContextErrors> given_its_pool(double kappa) const {
    const ContextSizes sizes = ContextSizes::nearest(dimension_, at(kappa));
    std::vector<ContextMoments> tests;
    for (const std::string& word : tests_) tests.push_back(test_moments(word));
    return given_pool(
        level_, pool_.get().topRows(sizes.tasks), sizes.pool_sizes(rho_, lambda_), tests);
  }
  /// The error given a fresh pool of as many times the dimensions, in which every eigenvalue stands
  /// as many times.
  double larger(const std::string& word, Index times, RandomStream& stream) const {
    const ContextSizes sizes = middle().times(times);
    const auto repeated = [&](const ArrayXd& once) -> ArrayXd { return once.replicate(times, 1); };
    const ContextNoise test{.length = static_cast<double>(times) * test_context_, .rho = rho_};
    return context_gaussian(gaussian_pool(sizes.tasks, repeated(train_), stream),
                            sizes.pool_sizes(rho_, lambda_),
                            gaussian_moments(repeated(spectrum(word, dimension_)), test))
        .icl;
  }

  ContextRatios at(double kappa) const {
    return {.alpha = configuration_.real("model.alpha"),
            .kappa = kappa,
            .tau = configuration_.real("model.tau"),
            .rho = rho_,
            .lambda = lambda_};
  }

  Configuration configuration_;
  Index dimension_;
  ArrayXd train_;
  std::vector<std::string> tests_;
  ContextLevel level_;
  double alpha_test_;
  std::vector<double> kappas_;
  double rho_;
  double lambda_;
  double test_context_ = 1;
  std::vector<ContextSizes> sizes_;
  Lazy<MatrixXd> pool_;  ///< the largest; smaller ones are its first rows
};

std::vector<ClaimResult> claims(const Configuration& c, const Observed& observed) {
  const std::string& train = c.text("model.train_spectrum");
  const std::string other = train == "ramp" ? "ramp-reversed" : "ramp";
  const std::string statement =
      "at the most tasks the error is larger on " + other + " than on the pretraining spectrum";
  const Point against = {{"test_spectrum", other}};
  const Point along = {{"test_spectrum", train}};
  const std::vector<double> rises =
      by_replicate(observed, {{"icl", against}, {"icl", along}})
          .of([](double error_against, double error_along) { return error_against - error_along; });
  if (rises.empty()) return {};
  return {claim_above("misaligned", statement, rises, 0, "by how much")};
}

}  // namespace

Study study() {
  return described({.name = "icl-alignment", .make = make<Alignment>, .claims = claims});
}

}  // namespace attica::icl_alignment
