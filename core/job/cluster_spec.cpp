// SPDX-License-Identifier: Apache-2.0
#include "core/job/cluster_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text_file.h"
#include "core/job/json_reader.h"
#include "core/job/presets.h"

namespace ballast {
namespace {

constexpr std::string_view kThisMachine = "this-machine";
constexpr std::array<std::string_view, 13> kRootKeys = {
    "name",      "source", "measured", "gpus_per_node", "memory_gib",       "peak_tflops", "hbm_gbps",
    "attention", "gemm",   "links",    "collectives",   "overlap_slowdown", "gpu_speed"};
constexpr std::array<std::string_view, 6> kAttentionKeys = {"model",   "kernel",   "head_dim",
                                                            "forward", "backward", "error_pct"};
constexpr std::array<std::string_view, 5> kTileKeys = {"a", "b", "c", "d", "assumed"};
constexpr std::array<std::string_view, 3> kGemmKeys = {"table", "error_pct", "assumed"};
constexpr std::array<std::string_view, 4> kGemmPointKeys = {"m", "n", "k", "tflops"};
constexpr std::array<std::string_view, 4> kLinkKeys = {"scope", "latency_us", "bandwidth_gbps", "assumed"};
constexpr std::array<std::string_view, 1> kAttentionModels = {"tiles"};
constexpr std::array<std::string_view, 2> kScopes = {"node", "network"};
constexpr std::array<std::string_view, 2> kPrecisions = {"bf16", "fp32"};

constexpr Range<double> kRate = {1e-9, 1e9};
constexpr Range<double> kPercent = {0, 1000};
constexpr std::size_t kMostElements = 65536;

/// The elements of a list member, each read as an object with these keys.
template <class Read>
void readList(const JsonReader& in, std::string_view key, std::span<const std::string_view> keys,
              const Read& read) {
    const JsonValue& member = in.need(key);
    const JsonValue::Array* elements = member.array();
    if (!elements || elements->empty() || elements->size() > kMostElements)
        in.fail(in.pathOf(key), fmt::format("expected a list of 1 to {} objects, found {} ({})",
                                            kMostElements, member.kind(), member.brief()));
    for (std::size_t i = 0; i < elements->size(); ++i) {
        const JsonReader element((*elements)[i], in.source(), fmt::format("{}[{}]", in.pathOf(key), i));
        element.refuseUnknown(keys);
        read(element);
    }
}

double neededNumber(const JsonReader& in, std::string_view key, Range<double> range) {
    return in.numberOf(in.need(key), in.pathOf(key), range);
}

std::int64_t neededInteger(const JsonReader& in, std::string_view key, Range<std::int64_t> range) {
    return in.integerOf(in.need(key), in.pathOf(key), range);
}

TileConstants readTiles(const JsonReader& in) {
    constexpr Range<double> kConstant = {0, 1e6};
    in.refuseUnknown(kTileKeys);
    TileConstants tiles;
    tiles.a = neededNumber(in, "a", {1e-15, 1e6});
    tiles.b = neededNumber(in, "b", kConstant);
    tiles.c = neededNumber(in, "c", kConstant);
    tiles.d = neededNumber(in, "d", kConstant);
    tiles.assumed = in.boolean("assumed", false);
    return tiles;
}

AttentionCurve readCurve(const JsonReader& in) {
    AttentionCurve curve;
    in.need("model");
    in.choice("model", 0, kAttentionModels);
    curve.kernel = in.text("kernel", "");
    curve.headDim = in.integer("head_dim", curve.headDim, {1, 1024});
    curve.forward = readTiles(in.object("forward"));
    curve.backward = readTiles(in.object("backward"));
    curve.errorPercent = in.number("error_pct", 0, kPercent);
    return curve;
}

void readAttention(const JsonReader& root, ClusterSpec& cluster) {
    if (root.need("attention").array()) {
        readList(root, "attention", kAttentionKeys,
                 [&](const JsonReader& in) { cluster.attention.push_back(readCurve(in)); });
        return;
    }
    const JsonReader in = root.object("attention");
    in.refuseUnknown(kAttentionKeys);
    cluster.attention.push_back(readCurve(in));
}

void readGemm(const JsonReader& in, ClusterSpec& cluster) {
    constexpr Range<std::int64_t> kSize = {1, std::int64_t{1} << 31};
    in.refuseUnknown(kGemmKeys);
    readList(in, "table", kGemmPointKeys, [&](const JsonReader& point) {
        cluster.gemm.push_back({neededInteger(point, "m", kSize), neededInteger(point, "n", kSize),
                                neededInteger(point, "k", kSize), neededNumber(point, "tflops", kRate)});
    });
    cluster.gemmErrorPercent = in.number("error_pct", 0, kPercent);
    cluster.gemmAssumed = in.boolean("assumed", false);
}

void readLinks(const JsonReader& root, ClusterSpec& cluster) {
    readList(root, "links", kLinkKeys, [&](const JsonReader& in) {
        Link link;
        in.need("scope");
        link.scope = kScopes[in.choice("scope", 0, kScopes)];
        for (const Link& other : cluster.links)
            if (other.scope == link.scope)
                in.fail(in.pathOf("scope"), fmt::format("\"{}\" appears twice", link.scope));
        link.latencyMicroseconds = neededNumber(in, "latency_us", {0, 1e9});
        link.bandwidthGBps = neededNumber(in, "bandwidth_gbps", kRate);
        link.assumed = in.boolean("assumed", false);
        cluster.links.push_back(link);
    });
}

void readPeaks(const JsonReader& in, ClusterSpec& cluster) {
    in.refuseUnknown(kPrecisions);
    for (std::string_view precision : kPrecisions)
        if (in.has(precision))
            cluster.peakTflops[std::string(precision)] = in.number(precision, 0, kRate);
    if (cluster.peakTflops.empty())
        in.fail("peak_tflops", "expected the peak of at least one of bf16, fp32");
}

void readSpeeds(const JsonReader& root, ClusterSpec& cluster) {
    const JsonValue* member = root.find("gpu_speed");
    if (!member)
        return;
    const JsonValue::Array* elements = member->array();
    if (!elements || elements->size() > (1 << 20))
        root.fail("gpu_speed",
                  fmt::format("expected a list of numbers, one a rank, found {}", member->kind()));
    for (std::size_t i = 0; i < elements->size(); ++i)
        cluster.gpuSpeed.push_back(
            root.numberOf((*elements)[i], fmt::format("gpu_speed[{}]", i), {0.001, 1000}));
}

void checkCollectives(const JsonReader& root) {
    const JsonValue* member = root.find("collectives");
    if (!member || member->isNull())
        return;
    const JsonReader in = root.object("collectives");
    if (!member->object()->empty())
        in.fail("collectives", "measured collectives are not built yet (expected an empty object)");
}

nlohmann::ordered_json tilesJson(const TileConstants& tiles) {
    nlohmann::ordered_json json = {{"a", tiles.a}, {"b", tiles.b}, {"c", tiles.c}, {"d", tiles.d}};
    if (tiles.assumed)
        json["assumed"] = true;
    return json;
}

nlohmann::ordered_json curveJson(const AttentionCurve& curve) {
    return {{"model", "tiles"},
            {"kernel", curve.kernel},
            {"head_dim", curve.headDim},
            {"forward", tilesJson(curve.forward)},
            {"backward", tilesJson(curve.backward)},
            {"error_pct", curve.errorPercent}};
}

nlohmann::ordered_json gemmJson(const ClusterSpec& cluster) {
    auto table = nlohmann::ordered_json::array();
    for (const GemmPoint& point : cluster.gemm)
        table.push_back({{"m", point.m}, {"n", point.n}, {"k", point.k}, {"tflops", point.tflops}});
    nlohmann::ordered_json json = {{"table", std::move(table)}, {"error_pct", cluster.gemmErrorPercent}};
    if (cluster.gemmAssumed)
        json["assumed"] = true;
    return json;
}

}  // namespace

const Link& ClusterSpec::link(bool insideNode) const {
    const std::string_view scope = kScopes[insideNode ? 0 : 1];
    for (const Link& candidate : links)
        if (candidate.scope == scope)
            return candidate;
    throw Error(
        fmt::format("cluster {}: links: no link of scope \"{}\", which this layout needs (gpus_per_node {})",
                    name, scope, gpusPerNode));
}

double ClusterSpec::peakFlops(std::string_view precision) const {
    const auto peak = peakTflops.find(std::string(precision));
    if (peak == peakTflops.end())
        throw Error(fmt::format("cluster {}: peak_tflops: no peak for precision {}", name, precision));
    return peak->second * 1e12;
}

ClusterSpec parseClusterSpec(std::string_view json, std::string_view source) {
    const JsonValue value = parseJson(json, source);
    const JsonReader root(value, source);
    root.refuseUnknown(kRootKeys);
    ClusterSpec cluster;
    root.need("name");
    cluster.name = root.text("name", "");
    cluster.source = root.text("source", "");
    if (const JsonValue* measured = root.find("measured"); measured && !measured->isNull())
        cluster.measured = root.text("measured", "");
    cluster.gpusPerNode = static_cast<int>(neededInteger(root, "gpus_per_node", {1, 65536}));
    cluster.memoryGiB = neededNumber(root, "memory_gib", {1e-6, 1e9});
    root.need("peak_tflops");
    readPeaks(root.object("peak_tflops"), cluster);
    cluster.hbmGBps = neededNumber(root, "hbm_gbps", kRate);
    readAttention(root, cluster);
    root.need("gemm");
    readGemm(root.object("gemm"), cluster);
    readLinks(root, cluster);
    checkCollectives(root);
    cluster.overlapSlowdown = root.number("overlap_slowdown", 1.0, {1, 100});
    readSpeeds(root, cluster);
    return cluster;
}

std::string clusterSpecJson(const ClusterSpec& cluster) {
    using Json = nlohmann::ordered_json;
    Json root;
    root["name"] = cluster.name;
    root["source"] = cluster.source;
    root["measured"] = cluster.measured ? Json(*cluster.measured) : Json();
    root["gpus_per_node"] = cluster.gpusPerNode;
    root["memory_gib"] = cluster.memoryGiB;
    root["peak_tflops"] = Json::object();
    for (const auto& [precision, peak] : cluster.peakTflops)
        root["peak_tflops"][precision] = peak;
    root["hbm_gbps"] = cluster.hbmGBps;
    root["attention"] = Json::array();
    for (const AttentionCurve& curve : cluster.attention)
        root["attention"].push_back(curveJson(curve));
    root["gemm"] = gemmJson(cluster);
    root["links"] = Json::array();
    for (const Link& link : cluster.links) {
        root["links"].push_back({{"scope", link.scope},
                                 {"latency_us", link.latencyMicroseconds},
                                 {"bandwidth_gbps", link.bandwidthGBps}});
        if (link.assumed)
            root["links"].back()["assumed"] = true;
    }
    root["overlap_slowdown"] = cluster.overlapSlowdown;
    root["gpu_speed"] = cluster.gpuSpeed;
    return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::filesystem::path thisMachinePath() {
    const char* data = std::getenv("XDG_DATA_HOME");
    const char* home = std::getenv("HOME");
    std::filesystem::path base;
    if (data && std::filesystem::path(data).is_absolute())
        base = data;
    else
        base = std::filesystem::path(home && *home ? home : "/") / ".local" / "share";
    return base / "ballast" / "clusters" / "this-machine.json";
}

ClusterSpec loadClusterSpec(std::string_view presetOrPath, int worldSize) {
    std::error_code failure;
    if (presetOrPath == kThisMachine) {
        const std::filesystem::path file = thisMachinePath();
        if (!std::filesystem::exists(file, failure))
            throw Error(
                fmt::format("{}: cluster this-machine has not been measured yet; run "
                            "ballast-calibrate --this-machine",
                            file.string()));
        ClusterSpec cluster = parseClusterSpec(readTextFile(file), file.string());
        // The file holds the machine's memory; its ranks share it.
        cluster.memoryGiB /= worldSize;
        return cluster;
    }
    if (const EmbeddedText* preset = findPreset(clusterPresetTexts(), presetOrPath))
        return parseClusterSpec(preset->text, preset->name);
    const std::filesystem::path file(presetOrPath);
    if (!std::filesystem::exists(file, failure))
        throw Error(fmt::format("cluster \"{}\": expected a preset ({}) or the path of a cluster file",
                                presetOrPath, fmt::join(clusterPresetNames(), ", ")));
    return parseClusterSpec(readTextFile(file), file.string());
}

std::vector<std::string> clusterPresetNames() {
    std::vector<std::string> names = presetNames(clusterPresetTexts());
    names.emplace_back(kThisMachine);
    return names;
}

}  // namespace ballast
