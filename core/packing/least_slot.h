// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace ballast {

/// The slot of least value among a fixed number of slots, ties to the lowest index: a winner tree, so that a
/// change costs O(log slots) and the answer is at hand. All values start at zero.
template <class Value>
class LeastSlot {
  public:
    /// slots  1 or more
    explicit LeastSlot(std::size_t slots) : values_(slots), winners_(2 * slots) {
        for (std::size_t slot = 0; slot < slots; ++slot)
            winners_[slots + slot] = slot;
        for (std::size_t node = slots - 1; node > 0; --node)
            winners_[node] = winnerBelow(node);
    }

    std::size_t least() const { return winners_[1]; }
    Value value(std::size_t slot) const { return values_[slot]; }

    void set(std::size_t slot, Value value) {
        values_[slot] = value;
        for (std::size_t node = (slot + values_.size()) / 2; node > 0; node /= 2)
            winners_[node] = winnerBelow(node);
    }

  private:
    std::size_t winnerBelow(std::size_t node) const {
        std::size_t left = winners_[2 * node];
        std::size_t right = winners_[2 * node + 1];
        // The tree of an odd number of slots is not in slot order, so ties look at the index.
        if (values_[left] != values_[right])
            return values_[left] < values_[right] ? left : right;
        return left < right ? left : right;
    }

    std::vector<Value> values_;
    std::vector<std::size_t> winners_;  ///< [1] overall; [slots + s] = s
};

}  // namespace ballast
