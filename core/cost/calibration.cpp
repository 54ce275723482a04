// SPDX-License-Identifier: Apache-2.0
#include "core/cost/calibration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ballast {
namespace {

constexpr double kMillisecond = 1e-3;

/// Solves the normal equations for the chosen unknowns; the others are 0. Nothing where they are dependent.
std::optional<std::vector<double>> leastSquares(const std::vector<std::vector<double>>& rows,
                                                const std::vector<double>& values, unsigned chosen) {
    std::vector<std::size_t> unknowns;
    for (std::size_t i = 0; i < rows.front().size(); ++i)
        if ((chosen >> i & 1U) != 0)
            unknowns.push_back(i);
    const std::size_t size = unknowns.size();
    std::vector<std::vector<double>> system(size, std::vector<double>(size + 1, 0.0));
    for (std::size_t row = 0; row < rows.size(); ++row)
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j)
                system[i][j] += rows[row][unknowns[i]] * rows[row][unknowns[j]];
            system[i][size] += rows[row][unknowns[i]] * values[row];
        }
    for (std::size_t i = 0; i < size; ++i) {
        // A pivot that elimination has all but cancelled belongs to an unknown that the others can stand in
        // for.
        constexpr double kDependent = 1e-12;
        double before = 0;
        for (const std::vector<double>& row : rows)
            before += row[unknowns[i]] * row[unknowns[i]];
        if (!(system[i][i] > kDependent * before))
            return std::nullopt;
        for (std::size_t other = 0; other < size; ++other) {
            if (other == i)
                continue;
            const double factor = system[other][i] / system[i][i];
            for (std::size_t j = i; j <= size; ++j)
                system[other][j] -= factor * system[i][j];
        }
    }
    std::vector<double> solution(rows.front().size(), 0.0);
    for (std::size_t i = 0; i < size; ++i)
        solution[unknowns[i]] = system[i][size] / system[i][i];
    return solution;
}

double squaredResidual(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                       const std::vector<double>& solution) {
    double sum = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        double predicted = 0;
        for (std::size_t i = 0; i < solution.size(); ++i)
            predicted += rows[row][i] * solution[i];
        sum += (predicted - values[row]) * (predicted - values[row]);
    }
    return sum;
}

AttentionCurve fitCurve(const CalibrationSamples& samples, std::int64_t headDim) {
    const auto select = [&](Direction direction) {
        std::vector<AttentionSample> chosen;
        for (const AttentionSample& sample : samples.attention)
            if (sample.headDim == headDim && sample.direction == direction)
                chosen.push_back(sample);
        return chosen;
    };
    const TileFit forward = fitTiles(select(Direction::Forward));
    const TileFit backward = fitTiles(select(Direction::Backward));
    AttentionCurve curve;
    curve.kernel = samples.kernel;
    curve.headDim = headDim;
    curve.forward = forward.constants;
    curve.backward = backward.constants;
    curve.errorPercent = (forward.errorPercent + backward.errorPercent) / 2;
    return curve;
}

}  // namespace

std::vector<double> nonNegativeLeastSquares(const std::vector<std::vector<double>>& rows,
                                            const std::vector<double>& values) {
    constexpr std::size_t kMostUnknowns = 8;
    BALLAST_CHECK(!rows.empty() && rows.size() == values.size() && rows.front().size() <= kMostUnknowns);
    std::vector<double> best(rows.front().size(), 0.0);
    double least = squaredResidual(rows, values, best);
    for (unsigned chosen = 1; chosen < 1U << best.size(); ++chosen) {
        const auto solution = leastSquares(rows, values, chosen);
        if (!solution || std::ranges::any_of(*solution, [](double x) { return x < 0; }))
            continue;
        const double residual = squaredResidual(rows, values, *solution);
        if (residual < least) {
            least = residual;
            best = *solution;
        }
    }
    return best;
}

TileFit fitTiles(std::span<const AttentionSample> samples) {
    std::vector<std::vector<double>> rows;
    std::vector<double> milliseconds;
    for (const AttentionSample& sample : samples) {
        const auto heads = static_cast<double>(sample.heads);
        rows.push_back({static_cast<double>(sample.count.tiles) * heads,
                        static_cast<double>(sample.count.blocks) * heads,
                        static_cast<double>(sample.count.tokens) * heads, 1.0});
        milliseconds.push_back(sample.time.value() / kMillisecond);
    }
    TileFit fit;
    if (!rows.empty()) {
        const auto solution = nonNegativeLeastSquares(rows, milliseconds);
        fit.constants.a = solution[0];
        fit.constants.b = solution[0] > 0 ? solution[1] / solution[0] : 0;
        fit.constants.c = solution[2];
        fit.constants.d = solution[3];
    }
    if (!(fit.constants.a > 0))
        throw Error(
            "calibration: the attention samples do not tell the time of a tile; expected calls of several "
            "lengths",
            ErrorCode::WorkFailed);
    double apart = 0;
    double sum = 0;
    for (const AttentionSample& sample : samples) {
        const auto heads = static_cast<double>(sample.heads);
        apart += std::abs((tileSeconds(fit.constants, sample.count, heads, true) - sample.time).value());
        sum += sample.time.value();
    }
    fit.errorPercent = 100 * apart / sum;
    return fit;
}

double gemmTableErrorPercent(const std::vector<GemmPoint>& points) {
    if (points.size() < 2)
        return 0;
    double sum = 0;
    for (std::size_t left = 0; left < points.size(); ++left) {
        std::vector<GemmPoint> others = points;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
        const GemmPoint& point = points[left];
        const double predicted = GemmTable(others, 1.0).rate({point.m, point.n, point.k});
        // Seconds go with the inverse of the rate.
        sum += std::abs(point.tflops * 1e12 / predicted - 1);
    }
    return 100 * sum / static_cast<double>(points.size());
}

double bandwidthGBps(std::span<const BytesSample> samples) {
    double bytes = 0;
    double seconds = 0;
    for (const BytesSample& sample : samples) {
        bytes += static_cast<double>(sample.bytes.value());
        seconds += sample.time.value();
    }
    if (!(seconds > 0) || !(bytes > 0))
        throw Error("calibration: no time was measured for memory", ErrorCode::WorkFailed);
    return bytes / seconds * 1e-9;
}

ClusterSpec calibratedCluster(const CalibrationSamples& samples) {
    ClusterSpec cluster;
    std::set<std::int64_t> headDims;
    for (const AttentionSample& sample : samples.attention)
        headDims.insert(sample.headDim);
    for (const std::int64_t headDim : headDims)
        cluster.attention.push_back(fitCurve(samples, headDim));
    if (cluster.attention.empty() || samples.gemm.empty())
        throw Error("calibration: expected attention calls and matrix products", ErrorCode::WorkFailed);

    double peak = 0;
    for (const GemmSample& sample : samples.gemm) {
        const GemmShape& shape = sample.shape;
        const double flops =
            2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
        if (!(sample.time.value() > 0))
            throw Error("calibration: a matrix product took no time", ErrorCode::WorkFailed);
        const double tflops = flops / sample.time.value() * 1e-12;
        peak = std::max(peak, tflops);
        cluster.gemm.push_back({shape.m, shape.n, shape.k, tflops});
    }
    cluster.gemmErrorPercent = gemmTableErrorPercent(cluster.gemm);
    cluster.peakTflops["fp32"] = peak;
    cluster.hbmGBps = bandwidthGBps(samples.elementwise);
    constexpr double kAssumedLatencyMicroseconds = 5;
    cluster.links.push_back({"node", kAssumedLatencyMicroseconds, bandwidthGBps(samples.copy), true});
    return cluster;
}

}  // namespace ballast
