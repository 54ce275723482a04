// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "backend/comm/communicator.h"
#include "backend/comm/transport.h"
#include "core/job/layout.h"
#include "core/schedule/step_collectives.h"

namespace ballast::backend {

/// The groups that one rank of a layout talks in.
class ProcessGroups {
  public:
    /// Throws Error (BadInput) when the layout does not have as many ranks as the transport.
    ProcessGroups(Transport& transport, const Layout& layout);

    const Layout& layout() const { return layout_; }
    Coordinate coordinate() const { return coordinate_; }
    int rank() const { return rank_; }

    /// The group of this rank along an axis; a middle stage is alone in its EmbeddingPair.
    Communicator& along(GroupAxis axis);
    Communicator& world() { return *world_; }

    /// World rank of the same tp, cp and dp on the neighbouring stage; nothing at the ends.
    std::optional<int> previousStage() const;
    std::optional<int> nextStage() const;

    bool firstStage() const { return coordinate_.pp == 0; }
    bool lastStage() const { return coordinate_.pp == layout_.pp - 1; }

  private:
    std::optional<int> stage(int pp) const;

    Layout layout_;
    int rank_;
    Coordinate coordinate_;
    std::unique_ptr<Communicator> tensor_;
    std::unique_ptr<Communicator> context_;
    std::unique_ptr<Communicator> dataAndContext_;
    std::unique_ptr<Communicator> embeddingPair_;
    std::unique_ptr<Communicator> world_;
};

}  // namespace ballast::backend
