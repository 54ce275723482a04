// SPDX-License-Identifier: Apache-2.0
#include "core/workload/csv_reader.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/workload/listed_lengths.h"
#include "core/workload/text_source.h"

namespace ballast {

namespace {

using Row = std::vector<std::string>;

/// Takes rows off a text; cells in quotes may hold separators, line ends and doubled quotes.
class RowReader {
  public:
    RowReader(std::string_view text, char separator, const LengthCollector& errors)
        : text_(withoutByteOrderMark(text)), separator_(separator), errors_(errors) {}

    /// Line on which the row at hand starts, from 1.
    std::int64_t line() const { return rowLine_; }

    /// The next row that is not blank; false at the end.
    bool next(Row& row) {
        while (!text_.empty()) {
            rowLine_ = line_;
            readRow(row);
            if (row.size() > 1 || !trimmed(row.front()).empty())
                return true;
        }
        return false;
    }

  private:
    void readRow(Row& row) {
        row.clear();
        do
            row.push_back(readCell());
        while (takeIf(separator_));
        if (!text_.empty()) {
            text_.remove_prefix(1);  // the line end at which the last cell stopped
            ++line_;
        }
    }

    std::string readCell() {
        if (takeIf('"'))
            return readQuoted();
        std::size_t end = 0;
        while (end < text_.size() && text_[end] != separator_ && text_[end] != '\n')
            ++end;
        std::string_view cell = text_.substr(0, end);
        text_.remove_prefix(end);
        if (cell.ends_with('\r') && (text_.empty() || text_.front() == '\n'))
            cell.remove_suffix(1);
        return std::string(cell);
    }

    std::string readQuoted() {
        std::string cell;
        for (;;) {
            if (text_.empty())
                errors_.refuse(rowLine_, "expected a closing quote, found the end of the file");
            const char letter = text_.front();
            text_.remove_prefix(1);
            line_ += letter == '\n' ? 1 : 0;
            if (letter != '"')
                cell += letter;
            else if (takeIf('"'))
                cell += '"';
            else
                break;
        }
        takeIf('\r');
        if (!text_.empty() && text_.front() != separator_ && text_.front() != '\n')
            errors_.refuse(line_, "expected a separator or the line's end after a closing quote");
        return cell;
    }

    bool takeIf(char letter) {
        if (text_.empty() || text_.front() != letter)
            return false;
        text_.remove_prefix(1);
        return true;
    }

    std::string_view text_;
    char separator_;
    const LengthCollector& errors_;
    std::int64_t line_ = 1;
    std::int64_t rowLine_ = 1;
};

bool startsLikeNumber(std::string_view cell) {
    const std::string_view text = trimmed(cell);
    return !text.empty() && std::string_view("+-.0123456789").find(text.front()) != std::string_view::npos;
}

std::string listed(const Row& names) {
    std::vector<std::string> shown;
    for (std::size_t index = 0; index < std::min<std::size_t>(names.size(), 8); ++index)
        shown.push_back(excerpt(trimmed(names[index])));
    return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > 8 ? ", ..." : "");
}

/// Index of the wanted column in the first row; a name beats a number.
std::size_t findColumn(const Row& first, std::string_view column, const RowReader& rows,
                       const LengthCollector& errors) {
    if (column.empty()) {
        if (first.size() > 1)
            errors.refuse(rows.line(), fmt::format("{} columns ({}); name one as PATH#COLUMN", first.size(),
                                                   listed(first)));
        return 0;
    }
    const auto named = std::find_if(first.begin(), first.end(),
                                    [&](const std::string& cell) { return trimmed(cell) == column; });
    if (named != first.end() && !startsLikeNumber(column))
        return static_cast<std::size_t>(named - first.begin());
    std::size_t number = 0;
    const auto [end, problem] = std::from_chars(column.data(), column.data() + column.size(), number);
    if (problem != std::errc() || end != column.data() + column.size())
        errors.refuse(rows.line(),
                      fmt::format("no column \"{}\"; there are: {}", excerpt(column), listed(first)));
    if (number < 1 || number > first.size())
        errors.refuse(rows.line(),
                      fmt::format("no column {}; the row has columns 1 to {}", number, first.size()));
    return number - 1;
}

}  // namespace

std::vector<std::int64_t> parseCsvLengths(std::string_view text, char separator, std::string_view column,
                                          std::string_view place) {
    LengthCollector lengths(place);
    RowReader rows(text, separator, lengths);
    Row row;
    if (!rows.next(row))
        return {};
    const std::size_t columns = row.size();
    const std::size_t wanted = findColumn(row, column, rows, lengths);
    const bool header = !startsLikeNumber(row[wanted]);
    const std::string what = header ? fmt::format("column {}", excerpt(trimmed(row[wanted])))
                                    : fmt::format("column {}", wanted + 1);
    if (!header)
        lengths.addText(row[wanted], rows.line(), what);
    while (rows.next(row)) {
        if (row.size() != columns)
            lengths.refuse(rows.line(), fmt::format("expected {} cells as in the first row, found {}",
                                                    columns, row.size()));
        lengths.addText(row[wanted], rows.line(), what);
    }
    return lengths.take();
}

std::optional<std::vector<HistogramLengths::Row>> parseHistogram(std::string_view text, char separator,
                                                                 std::string_view place) {
    LengthCollector cells(place);
    RowReader reader(text, separator, cells);
    Row row;
    if (!reader.next(row) || row.size() != 2 || trimmed(row[0]) != "length" || trimmed(row[1]) != "count")
        return std::nullopt;
    constexpr std::int64_t kMostDocuments = std::int64_t{1} << 40;
    std::vector<HistogramLengths::Row> rows;
    std::int64_t documents = 0;
    std::int64_t tokens = 0;
    while (reader.next(row)) {
        if (row.size() != 2)
            cells.refuse(reader.line(),
                         fmt::format("expected 2 cells, length and count, found {}", row.size()));
        LengthCollector pair(place);
        pair.addText(row[0], reader.line(), "column length");
        pair.addText(row[1], reader.line(), "column count");
        const std::vector<std::int64_t> numbers = pair.take();
        const HistogramLengths::Row added{numbers[0], numbers[1]};
        if (added.count > kMostDocuments - documents)
            cells.refuse(reader.line(), "the counts up to here sum to more than 2^40 documents");
        if (added.length > 0 && added.count > (kMaxTokens - tokens) / added.length)
            cells.refuse(reader.line(), "the lengths up to here sum to more than 2^62 tokens");
        documents += added.count;
        tokens += added.length * added.count;
        rows.push_back(added);
    }
    return rows;
}

std::unique_ptr<LengthSource> openCsv(const std::filesystem::path& file, char separator,
                                      std::string_view column) {
    const TextSource mapped(file);
    if (column.empty())
        if (const auto rows = parseHistogram(mapped.text(), separator, file.string()))
            return std::make_unique<HistogramLengths>(file.string(), *rows);
    return std::make_unique<ListedLengths>(file.string(),
                                           parseCsvLengths(mapped.text(), separator, column, file.string()));
}

}  // namespace ballast
