/// @file
/// @brief Study topics-overlap: how the contrast of the value matrix falls where topics share
/// words.

#include "attica/sim/topics/overlap.hpp"

#include "attica/studies/kit.hpp"
#include "attica/theory/topics/overlap.hpp"

namespace attica::topics_overlap {
namespace {

const std::vector<std::string> kContrasts = {"contrast_neighbour", "contrast_other"};

class Overlap : public PointwiseExperiment {
 public:
  explicit Overlap(const Configuration& c)
      : shared_(ascending(c.integers("sweep.shared"))),
        count_(c.integer("sim.documents")),
        disjoint_(c.text("theory.topics") == "disjoint") {
    documents_.topics = c.integer("model.topics");
    documents_.words = c.integer("model.words_per_topic");
    documents_.topics_per_document = c.integer("model.topics_per_document");
    documents_.mask_rate = c.real("model.mask_rate");
    documents_.keep_rate = c.real("model.keep_rate");
    documents_.random_rate = c.real("model.random_rate");
    const auto number = [](Eigen::Index n) { return static_cast<double>(n); };
    require(documents_.topics_per_document < documents_.topics,
            "model.topics_per_document",
            number(documents_.topics_per_document),
            "topics_per_document < topics, or all documents are alike");
    require(documents_.keep_rate + documents_.random_rate <= 1,
            "model.random_rate",
            documents_.random_rate,
            "keep_rate + random_rate <= 1");
    require(2 * shared_.back() <= documents_.words,
            "sweep.shared",
            number(shared_.back()),
            "shared <= words_per_topic/2, so that only neighbours share words");
    constexpr double kMostTokens = 500;
    require(number(documents_.topics * documents_.words) <= kMostTokens,
            "model.words_per_topic",
            number(documents_.words),
            "topics * words_per_topic <= 500");
  }

  TheoryResult theory(TheoryGrid grid) const override {
    const double kappa = 1 - (1 - documents_.keep_rate) * documents_.mask_rate;
    const auto words = static_cast<double>(documents_.words);
    Curves curves({}, "shared", kContrasts);
    for (const double s : line_through(as_reals(shared_), 40, AxisScale::linear, grid)) {
      curves.add(
          s,
          {overlap_contrast(kappa, words, disjoint_ ? 0 : s), overlap_contrast(kappa, words, 0)});
    }
    TheoryResult result;
    curves.into(result);
    return result;
  }

  std::size_t points() const override { return shared_.size(); }

 protected:
  double flops(std::size_t) const override {
    constexpr double kOfDocument = 200;
    return kOfDocument * static_cast<double>(count_);
  }

  Outcome run(const Replicate& replicate) const override {
    OverlapDocuments d = documents_;
    d.shared = shared_[replicate.point()];
    RandomStream stream = replicate.stream();
    const OverlapContrast contrast = fit_overlap(d, count_, stream);
    Outcome outcome;
    Curves({}, "shared", kContrasts)
        .add(static_cast<double>(d.shared), {contrast.neighbour, contrast.other})
        .into(outcome);
    return outcome;
  }

 private:
  std::vector<std::int64_t> shared_;
  std::int64_t count_;
  bool disjoint_;  ///< the theory knows no words in common
  OverlapDocuments documents_;
};

}  // namespace

Study study() { return described({.name = "topics-overlap", .make = make<Overlap>}); }

}  // namespace attica::topics_overlap
