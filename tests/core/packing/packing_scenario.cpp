// SPDX-License-Identifier: Apache-2.0
#include "packing_scenario.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ballast::testing {

namespace {

class ScenarioParser {
  public:
    explicit ScenarioParser(const std::filesystem::path& file) : file_(file) {}

    std::vector<PackingScenario> parse();

  private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw std::runtime_error(file_.string() + ":" + std::to_string(line_) + ": " + what);
    }
    void parseInput(PackingScenario& scenario, std::istringstream& words) const;
    void parseExpected(PackingScenario& scenario, std::string text) const;
    std::vector<std::int64_t> numbers(std::istringstream& words) const;
    std::int64_t number(std::istringstream& words, const std::string& key) const;

    std::filesystem::path file_;
    int line_ = 0;
};

std::vector<PackingScenario> ScenarioParser::parse() {
    std::ifstream stream(file_);
    if (!stream)
        refuse("cannot be read");
    std::vector<PackingScenario> scenarios;
    bool titleBefore = false;
    for (std::string text; std::getline(stream, text);) {
        ++line_;
        std::istringstream words(text);
        std::string first;
        if (!(words >> first))
            continue;
        if (first == "#") {
            if (!titleBefore)
                scenarios.emplace_back().line = line_;
            scenarios.back().title += (titleBefore ? " " : "") + text.substr(text.find('#') + 2);
            titleBefore = true;
            continue;
        }
        titleBefore = false;
        if (scenarios.empty())
            refuse("expected a title, '# ...'");
        if (first == "expect")
            parseExpected(scenarios.back(), text.substr(text.find("expect") + 6));
        else {
            std::istringstream again(text);
            parseInput(scenarios.back(), again);
        }
    }
    return scenarios;
}

void ScenarioParser::parseInput(PackingScenario& scenario, std::istringstream& words) const {
    PackingCase& packingCase = scenario.packingCase;
    for (std::string key; words >> key;) {
        if (key == "lengths")
            scenario.lengths = numbers(words);
        else if (key == "outlier") {
            std::string sign;
            if (!(words >> sign) || sign != ">=")
                refuse("expected 'outlier >= L1 L2 ...'");
            packingCase.thresholds = numbers(words);
        } else if (key == "window")
            packingCase.window = number(words, key);
        else if (key == "micro-batches")
            packingCase.microBatches = static_cast<int>(number(words, key));
        else if (key == "dp")
            packingCase.dp = static_cast<int>(number(words, key));
        else if (key == "max-tokens")
            packingCase.maxTokens = number(words, key);
        else if (key == "batches")
            packingCase.batches = static_cast<int>(number(words, key));
        else if (key == "crossover")
            packingCase.crossover = number(words, key);
        else if (key == "strategy")
            words >> packingCase.strategy;
        else if (key == "first") {
            std::string rest;
            std::getline(words, rest);
            if (rest != " step of a longer source")
                refuse("expected 'first step of a longer source'");
            scenario.firstStepOnly = true;
        } else
            refuse("'" + key + "' is no key");
    }
}

void ScenarioParser::parseExpected(PackingScenario& scenario, std::string text) const {
    ExpectedStep step;
    bool waiting = false;
    for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos;) {
        if (text.compare(at, 7, "waiting") == 0) {
            waiting = true;
            at += 7;
            continue;
        }
        std::size_t end = text.find(']', at);
        if (text[at] != '[' || end == std::string::npos)
            refuse("expected '[lengths]' at '" + text.substr(at) + "'");
        std::istringstream words(text.substr(at + 1, end - at - 1));
        if (waiting)
            step.waiting = numbers(words);
        else
            step.microBatches.push_back(numbers(words));
        at = end + 1;
    }
    scenario.steps.push_back(step);
}

std::vector<std::int64_t> ScenarioParser::numbers(std::istringstream& words) const {
    std::vector<std::int64_t> values;
    for (;;) {
        std::streampos before = words.tellg();
        std::int64_t value = 0;
        if (words >> value) {
            values.push_back(value);
            continue;
        }
        words.clear();
        words.seekg(before == std::streampos(-1) ? std::streampos(0) : before);
        if (before == std::streampos(-1))
            words.setstate(std::ios::eofbit | std::ios::failbit);
        return values;
    }
}

std::int64_t ScenarioParser::number(std::istringstream& words, const std::string& key) const {
    std::int64_t value = 0;
    if (!(words >> value))
        refuse("expected a number after '" + key + "'");
    return value;
}

}  // namespace

std::vector<PackingScenario> readPackingScenarios(const std::filesystem::path& file) {
    return ScenarioParser(file).parse();
}

}  // namespace ballast::testing
