// SPDX-License-Identifier: Apache-2.0
#include "tests/support/builders.h"

namespace ballast::testing {

Scenario tinyScenario() {
    Scenario scenario;
    scenario.lengths.window = 1024;
    scenario.model = "demo";
    scenario.cluster = "tiny";
    scenario.layout = {1, 2, 1, 2};
    scenario.microBatches = 2;
    scenario.cost = {"quadratic", 4096};
    return scenario;
}

ModelSpec tinyModel() {
    ModelSpec model;
    model.name = "tiny";
    model.hiddenSize = 64;
    model.layers = 4;
    model.heads = 4;
    model.kvHeads = 2;
    model.headDim = 16;
    model.intermediateSize = 128;
    model.vocabularySize = 256;
    return model;
}

ClusterSpec tinyCluster() {
    ClusterSpec cluster;
    cluster.name = "tiny";
    cluster.source = "made up for tests";
    cluster.gpusPerNode = 64;
    cluster.memoryGiB = 1;
    cluster.peakTflops = {{"fp32", 0.1}};
    cluster.hbmGBps = 10;
    AttentionCurve curve;
    curve.kernel = "made up";
    curve.headDim = 16;
    curve.forward = {1e-4, 0.5, 1e-6, 0.01, false};
    curve.backward = {2.5e-4, 0.5, 2.5e-6, 0.025, false};
    cluster.attention = {curve};
    cluster.gemm = {{256, 64, 64, 0.04}, {1024, 128, 64, 0.05}, {1024, 256, 256, 0.08}};
    cluster.links = {{"node", 5, 10, false}, {"network", 20, 1, false}};
    return cluster;
}

CostModel quadraticCost(std::int64_t crossoverTokens) {
    Scenario scenario = tinyScenario();
    scenario.cost.crossoverTokens = crossoverTokens;
    return CostModel(scenario, tinyModel(), tinyCluster());
}

CostModel tileCost(const Layout& layout) {
    Scenario scenario = tinyScenario();
    scenario.layout = layout;
    scenario.cost = {};
    return CostModel(scenario, tinyModel(), tinyCluster());
}

}  // namespace ballast::testing
