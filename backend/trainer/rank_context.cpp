// SPDX-License-Identifier: Apache-2.0
#include "backend/trainer/rank_context.h"

#include <algorithm>
#include <vector>

#include "core/timeline/timeline.h"

namespace ballast::backend {

void runCollective(const RankContext& context, const CollectiveCall& call, const SpanLabel& label,
                   const std::function<void(Communicator&)>& work) {
    std::span<const int> members = context.groups.along(call.axis).members();
    runTimedCall(context, {call, context.cost.collective(call.operation, call.bytes, members)}, label, work);
}

void runTimedCall(const RankContext& context, const TimedCall& timed, const SpanLabel& label,
                  const std::function<void(Communicator&)>& work) {
    const CollectiveCall& call = timed.call;
    Communicator& group = context.groups.along(call.axis);
    Span span = startedSpan(context.clock, spanKindOf(call.purpose), label);
    span.bytes = call.bytes.value();
    std::vector<std::int64_t> arrivals(static_cast<std::size_t>(group.size()));
    const std::vector<std::int64_t> counts(arrivals.size(), 1);
    const std::int64_t mine = span.begin;
    group.allGather(std::span(&mine, 1), counts, std::span(arrivals));
    const auto latest = std::max_element(arrivals.begin(), arrivals.end());

    if (context.clock.isVirtual()) {
        span.waitingUntil = *latest;
        context.clock.advanceTo(*latest + toNanoseconds(timed.transfer));
        span.modelled = 1;
        work(group);
    } else {
        span.waitingUntil = context.clock.now();
        work(group);
    }
    span.end = context.clock.now();
    if (span.waiting() > 0) {
        span.blamedRank = group.members()[static_cast<std::size_t>(latest - arrivals.begin())];
        span.document = label.document;
    }
    context.spans.add(span);
}

}  // namespace ballast::backend
