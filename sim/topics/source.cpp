#include "attica/sim/topics/source.hpp"

namespace attica {

using Eigen::Index;

TopicSource::TopicSource(const TopicModel& model,
                         const TopicSourceOptions& options,
                         const StreamAddress& address)
    : sampler_(model), options_(options), address_(address) {
  if (options_.data == TopicData::population) all_ = population_batch(model);
  if (options_.data != TopicData::fixed) return;
  address_.id = StreamId::model;
  address_.step = 0;
  RandomStream stream(address_);
  draw(stream, options_.documents, all_);
  // Queries and targets stand in the order of their documents.
  const auto documents = static_cast<std::size_t>(options_.documents);
  first_query_.assign(documents + 1, 0);
  first_target_.assign(documents + 1, 0);
  for (const TopicBatch::Query& q : all_.queries) {
    ++first_query_[static_cast<std::size_t>(q.document) + 1];
  }
  for (const TopicBatch::Target& t : all_.targets) {
    const Index document = all_.queries[static_cast<std::size_t>(t.query)].document;
    ++first_target_[static_cast<std::size_t>(document) + 1];
  }
  for (std::size_t d = 0; d < documents; ++d) {
    first_query_[d + 1] += first_query_[d];
    first_target_[d + 1] += first_target_[d];
  }
}

const TopicBatch& TopicSource::operator()(std::uint64_t step) {
  if (options_.data == TopicData::population) return all_;
  const bool fixed = options_.data == TopicData::fixed;
  address_.id = fixed ? StreamId::minibatch : StreamId::data;
  address_.step = step;
  RandomStream stream(address_);
  if (fixed) {
    gather(stream);
  } else {
    draw(stream, options_.batch, batch_);
  }
  return batch_;
}

void TopicSource::draw(RandomStream& stream, Index documents, TopicBatch& batch) const {
  if (sampler_.model().infinite()) {
    sampler_.draw_infinite(stream, documents, options_.queries, batch);
  } else {
    sampler_.draw(stream, documents, batch);
  }
}

void TopicSource::gather(RandomStream& stream) {
  const auto weight = static_cast<double>(options_.documents) / static_cast<double>(options_.batch);
  batch_.start(all_.shares.rows(), options_.batch);
  for (Index b = 0; b < options_.batch; ++b) {
    const auto d =
        static_cast<std::size_t>(stream.below(static_cast<std::uint64_t>(options_.documents)));
    batch_.shares.col(b) = all_.shares.col(static_cast<Index>(d));
    const auto shift =
        static_cast<Index>(batch_.queries.size()) - static_cast<Index>(first_query_[d]);
    for (std::size_t q = first_query_[d]; q < first_query_[d + 1]; ++q) {
      batch_.queries.push_back({b, all_.queries[q].shown});
    }
    for (std::size_t t = first_target_[d]; t < first_target_[d + 1]; ++t) {
      const TopicBatch::Target& target = all_.targets[t];
      batch_.targets.push_back({target.query + shift, target.word, target.weight * weight});
    }
  }
}

}  // namespace attica
