// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/store/sqlite.h"
#include "core/store/workspace.h"

namespace ballast {

/// What a Workspace holds; private to core/store. The connection is used by const members too: reading
/// changes nothing that a caller can see.
struct Workspace::State {
    sqlite::Connection connection;
    int schema = kSchemaNumber;

    std::string name() const { return connection.path().string(); }
    /// The id of an interned string, added when new; inside a transaction of the caller.
    std::int64_t nameId(const std::string& text);
    /// An enumeration's value from the file; throws Error when it is none.
    template <class Enumeration>
    Enumeration value(std::int64_t stored, std::int64_t least, std::int64_t greatest,
                      std::string_view column) const {
        if (stored < least || stored > greatest)
            failOnValue(stored, column);
        return static_cast<Enumeration>(stored);
    }
    RunRecord runRecord(const sqlite::Statement& row) const;
    [[noreturn]] void failOnValue(std::int64_t stored, std::string_view column) const;
};

std::int64_t secondsSince1970();

}  // namespace ballast
