// SPDX-License-Identifier: Apache-2.0
#include "core/workload/jsonl_reader.h"

#include <fmt/core.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/workload/listed_lengths.h"
#include "core/workload/text_source.h"

namespace ballast {

namespace {

/// Listens to the parser for one line and keeps the size of the wanted value alone. Depth 0 is the line's
/// value, depth 1 the fields of its object or the elements of its array.
class SizeListener : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit SizeListener(const std::optional<std::string>& field) : field_(field) {}

    bool null() override { return value("null"); }
    bool boolean(bool) override { return value("true or false"); }
    bool number_integer(number_integer_t number) override {
        return value(number < 0 ? fmt::format("{}", number) : "", number);
    }
    bool number_unsigned(number_unsigned_t number) override {
        if (number > static_cast<number_unsigned_t>(kMaxTokens))
            return value(fmt::format("{}, more than 2^62", number));
        return value("", static_cast<std::int64_t>(number));
    }
    bool number_float(number_float_t, const string_t& text) override { return value(excerpt(text)); }
    bool string(string_t& text) override { return value("", static_cast<std::int64_t>(text.size())); }
    bool binary(binary_t&) override { return value("binary data"); }

    bool start_object(std::size_t) override {
        const bool whole = depth_ == 0;
        if (whole)
            isObject_ = true;
        else
            countElement("an object");
        ++depth_;
        return true;
    }
    bool end_object() override { return --depth_, true; }
    bool start_array(std::size_t) override {
        if (countElement("") && !found_) {
            found_ = true;
            elementsDepth_ = depth_ + 1;
        }
        ++depth_;
        return true;
    }
    bool end_array() override {
        if (depth_-- == elementsDepth_)
            elementsDepth_ = -1;
        return true;
    }
    bool key(string_t& name) override {
        if (depth_ != 1 || !isObject_)
            return true;
        ++fields_;
        if (!field_)
            field_ = name;
        here_ = name == *field_;
        if (here_ && found_)
            sentence_ = fmt::format("field \"{}\" is there twice", excerpt(name));
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        sentence_ = fmt::format("broken JSON at column {}", position);
        broken_ = true;
        return false;
    }

    bool isObject() const { return isObject_; }
    bool found() const { return found_; }
    std::int64_t size() const { return size_; }
    std::int64_t fields() const { return fields_; }
    const std::optional<std::string>& field() const { return field_; }
    const std::string& sentence() const { return sentence_; }

  private:
    /// True when a value that starts here is the wanted one.
    bool wanted() const { return depth_ == 0 || (depth_ == 1 && isObject_ && here_); }

    /// Counts a value that starts here as an element of the wanted array; true when it is itself the wanted
    /// value, which `bad` then says is none.
    bool countElement(const std::string& bad) {
        if (depth_ == elementsDepth_)
            ++size_;
        if (!wanted())
            return false;
        if (!bad.empty()) {
            found_ = true;
            if (sentence_.empty())
                sentence_ =
                    fmt::format("expected a length of 0 or more, an array or a string, found {}", bad);
        }
        return true;
    }

    bool value(const std::string& bad, std::int64_t size = 0) {
        if (countElement(bad)) {
            found_ = true;
            size_ = size;
        }
        return true;
    }

    std::optional<std::string> field_;
    std::string sentence_;
    std::int64_t size_ = 0;
    std::int64_t fields_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t elementsDepth_ = -1;
    bool isObject_ = false;
    bool here_ = false;
    bool found_ = false;
    bool broken_ = false;
};

}  // namespace

std::vector<std::int64_t> parseJsonLengths(std::string_view text, std::string_view field,
                                           std::string_view place) {
    LengthCollector lengths(place);
    std::optional<std::string> name;
    if (!field.empty())
        name = field;
    text = withoutByteOrderMark(text);
    for (std::int64_t number = 1; !text.empty(); ++number) {
        const std::string_view line = trimmed(takeLine(text));
        if (line.empty())
            continue;
        SizeListener listener(name);
        nlohmann::json::sax_parse(line.begin(), line.end(), &listener);
        if (!listener.sentence().empty())
            lengths.refuse(number, listener.sentence());
        if (listener.isObject() && field.empty() && listener.fields() > 1)
            lengths.refuse(number, fmt::format("{} fields; name one as PATH#FIELD", listener.fields()));
        if (!field.empty() && !listener.isObject())
            lengths.refuse(number, fmt::format("expected an object with field \"{}\"", excerpt(field)));
        if (!listener.found())
            lengths.refuse(number, name ? fmt::format("no field \"{}\"", excerpt(*name)) : "an empty object");
        name = listener.field();
        lengths.add(listener.size(), number);
    }
    return lengths.take();
}

namespace {

/// Listens to the parser for one array of whole numbers.
class ArrayListener : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit ArrayListener(LengthCollector& lengths) : lengths_(lengths) {}

    bool null() override { return refuse("null"); }
    bool boolean(bool) override { return refuse("true or false"); }
    bool number_integer(number_integer_t number) override {
        if (number < 0)
            return refuse(fmt::format("{}", number));
        return add(number);
    }
    bool number_unsigned(number_unsigned_t number) override {
        if (number > static_cast<number_unsigned_t>(kMaxTokens))
            return refuse(fmt::format("{}, more than 2^62", number));
        return add(static_cast<std::int64_t>(number));
    }
    bool number_float(number_float_t, const string_t& text) override { return refuse(excerpt(text)); }
    bool string(string_t& text) override { return refuse("\"" + excerpt(text) + "\""); }
    bool binary(binary_t&) override { return refuse("binary data"); }
    bool start_object(std::size_t) override { return refuse("an object"); }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return depth_++ == 0 || refuse("an array"); }
    bool end_array() override { return true; }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        sentence_ = fmt::format("byte {}: broken JSON", position);
        return false;
    }

    const std::string& sentence() const { return sentence_; }

  private:
    bool add(std::int64_t length) {
        if (depth_ == 0)
            return refuse("a number alone");
        lengths_.add(length, 1);
        ++count_;
        return true;
    }
    bool refuse(const std::string& found) {
        sentence_ =
            fmt::format("number {}: expected a length of 0 or more in one array, found {}", count_, found);
        return false;
    }

    LengthCollector& lengths_;
    std::string sentence_;
    std::int64_t depth_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace

std::vector<std::int64_t> parseJsonArray(std::string_view text, std::string_view place) {
    text = withoutByteOrderMark(text);
    LengthCollector lengths(place);
    ArrayListener listener(lengths);
    nlohmann::json::sax_parse(text.begin(), text.end(), &listener);
    if (!listener.sentence().empty())
        throw Error(fmt::format("{}: {}", place, listener.sentence()));
    return lengths.take();
}

std::unique_ptr<LengthSource> openJsonLines(const std::filesystem::path& file, std::string_view field) {
    const TextSource mapped(file);
    return std::make_unique<ListedLengths>(file.string(),
                                           parseJsonLengths(mapped.text(), field, file.string()));
}

}  // namespace ballast
