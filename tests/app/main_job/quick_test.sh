#!/usr/bin/env bash
# The main job's quick form goes through every part, trains what it packed, and is quick the second time.
# Usage: quick_test.sh PRESET OUT_FOLDER
set -euo pipefail
preset=$1 out=$2
rm -rf "$out"
mkdir -p "$out/home"
export XDG_DATA_HOME=$out/home

fail() { echo "FAILED: $*" >&2; exit 1; }

resources/scripts/run --quick --preset "$preset" --out "$out/job" | tee "$out/first.txt"

compare=$out/job/compare.json
jq -e '.runs | length == 2' "$compare" >/dev/null || fail "the comparison does not show two runs"
jq -e 'all(.runs[]; .kind == "measured" and .clock == "virtual" and .prediction != null)' "$compare" >/dev/null ||
    fail "the runs are not two measured ones with their stored predictions"
jq -e 'all(.runs[]; .seconds_per_token > 0 and .compute_s > 0 and .loss_last > 0)' "$compare" >/dev/null ||
    fail "a figure of the comparison is missing"

"build/$preset/bin/ballast" runs --workspace "$out/job/main-job.ballast" --json |
    jq -e '[.runs[] | select(.kind == "measured")] | length == 2 and all(.[]; .state == "done")' >/dev/null ||
    fail "the workspace does not hold two finished runs"

for name in sequential wlb; do
    packed=$(jq .summary.tokens "$out/job/$name.pack.json")
    run=$(awk -F'\t' -v name="$name" '$1 ~ "^" name " " {print $2}' "$out/job/runs.tsv")
    trained=$("build/$preset/bin/ballast" runs show "$run" --workspace "$out/job/main-job.ballast" --json | jq '[.steps[].tokens] | add')
    [[ $packed == "$trained" ]] || fail "$name: $packed tokens were packed, but $trained trained"
done

for view in scenario lengths packing timeline runs compare; do
    [[ -s $out/job/screenshots/$view.png && -s $out/job/screenshots/$view@2x.png ]] || fail "no screenshot of $view"
done

resources/scripts/run --quick --preset "$preset" --out "$out/job" >"$out/second.txt" 2>&1
grep -q "already scanned" "$out/second.txt" || fail "the second run scanned again"
[[ $(grep -c "already trained" "$out/second.txt") == 2 ]] || fail "the second run trained again"
echo "main job, quick form: every check held"
