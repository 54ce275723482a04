// SPDX-License-Identifier: Apache-2.0
#include "core/packing/differencing.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ballast {
namespace {

/// Numbers that share a part, as a list through `next`, so that joining two costs O(1).
struct Part {
    double work = 0;
    std::int32_t first = -1;
    std::int32_t last = -1;
};

struct Partition {
    std::vector<Part> parts;  ///< heaviest first
    std::size_t born = 0;     ///< decides ties, so that the result is the same everywhere

    double spread() const { return parts.front().work - parts.back().work; }
};

struct NarrowerSpread {
    bool operator()(const Partition& a, const Partition& b) const {
        return a.spread() != b.spread() ? a.spread() < b.spread() : a.born > b.born;
    }
};

class Differencing {
  public:
    Differencing(std::span<const double> works, std::size_t parts) : next_(works.size(), -1) {
        std::vector<Partition> singles(works.size());
        for (std::size_t i = 0; i < works.size(); ++i) {
            singles[i].parts.resize(parts);
            singles[i].parts[0] = {works[i], static_cast<std::int32_t>(i), static_cast<std::int32_t>(i)};
            singles[i].born = i;
        }
        partitions_ = Queue(NarrowerSpread(), std::move(singles));
    }

    std::vector<std::int32_t> run() {
        for (std::size_t born = next_.size(); partitions_.size() > 1; ++born) {
            Partition widest = take();
            merge(widest, take());
            widest.born = born;
            partitions_.push(std::move(widest));
        }
        std::vector<std::int32_t> partOf(next_.size());
        if (!partitions_.empty()) {
            const Partition last = take();
            for (std::size_t part = 0; part < last.parts.size(); ++part)
                for (std::int32_t i = last.parts[part].first; i >= 0; i = next_[static_cast<std::size_t>(i)])
                    partOf[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(part);
        }
        return partOf;
    }

  private:
    using Queue = std::priority_queue<Partition, std::vector<Partition>, NarrowerSpread>;

    Partition take() {
        // The queue gives its top as const; it is popped at once.
        Partition top = std::move(const_cast<Partition&>(partitions_.top()));
        partitions_.pop();
        return top;
    }

    void merge(Partition& into, const Partition& other) {
        const std::size_t parts = into.parts.size();
        for (std::size_t i = 0; i < parts; ++i)
            join(into.parts[i], other.parts[parts - 1 - i]);
        std::ranges::stable_sort(into.parts, std::greater<>(), &Part::work);
    }

    void join(Part& part, const Part& more) {
        part.work += more.work;
        if (more.first < 0)
            return;
        if (part.first < 0)
            part.first = more.first;
        else
            next_[static_cast<std::size_t>(part.last)] = more.first;
        part.last = more.last;
    }

    std::vector<std::int32_t> next_;
    Queue partitions_;
};

}  // namespace

std::vector<std::int32_t> partitionByDifferencing(std::span<const double> works, std::size_t parts) {
    return Differencing(works, parts).run();
}

}  // namespace ballast
