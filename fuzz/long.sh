#!/usr/bin/env bash
# Usage: long.sh SECONDS [BINARIES [CORPUS]]
#
# Runs all fuzz targets for this time on all cores, and prints the executions and findings of each
# target. A target that has found something is restarted, at most MAX_FINDINGS times. The default
# folders are `targets` and `corpus` next to this script. Findings and new inputs are written to
# $OUT (default: `found`). Exit status: 1 if there is a finding.
set -euo pipefail
readonly MAX_FINDINGS=20
# Limits of an execution: seconds and megabytes.
readonly TIMEOUT=60 MEMORY=3000
here=$(cd "$(dirname "$0")" && pwd)
seconds=$1 binaries=$(realpath "${2:-$here/targets}") corpus=$(realpath "${3:-$here/corpus}")
out=${OUT:-found}
mkdir -p "$out"
out=$(realpath "$out")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
export MAX_FINDINGS TIMEOUT MEMORY binaries corpus out temporary

# Runs a target for some time: work TARGET NUMBER SECONDS
work() {
    local target=$1 number=$2 end=$((SECONDS + $3)) found=0 log=$out/logs/$1-$2.log
    local inputs=$out/inputs/$target status
    mkdir -p "$inputs" "$corpus/$target" "$out/logs" "$temporary/$target-$number"
    : > "$log"
    while ((SECONDS < end && found < MAX_FINDINGS)); do
        status=0
        # Targets may change the working folder, and use a temporary one.
        (cd "$temporary/$target-$number" && TMPDIR=$PWD "$binaries/$target" -seed=$((RANDOM + 1)) \
            -max_total_time=$((end - SECONDS)) -max_len=16384 -timeout="$TIMEOUT" \
            -rss_limit_mb="$MEMORY" -reload=60 -print_final_stats=1 \
            -artifact_prefix="$out/$target-" "$inputs" "$corpus/$target") >> "$log" 2>&1 || status=$?
        ((status == 0)) || found=$((found + 1))
    done
    echo "$target $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | awk "{ all += \$1 } END { printf \"%d\", all }") $found"
}
export -f work

mapfile -t targets < <(find "$binaries" -maxdepth 1 -type f -executable -printf '%f\n' | sort)
cores=$(nproc)
count=${#targets[@]}
# There are at least as many tasks as targets and as cores. All tasks take the same time.
tasks=$((count > cores ? count : cores))
share=$((seconds * cores / tasks))
for ((number = 0; number < tasks; number++)); do
    echo "${targets[number % count]} $number $share"
done | xargs -P "$cores" -L 1 bash -c 'work "$@"' work > "$temporary/results"
awk '{ runs[$1] += $2; found[$1] += $3 }
    END {
        for (target in runs) {
            printf "%-12s %13d executions, %d findings\n", target, runs[target], found[target] | "sort"
            all += runs[target]; wrong += found[target]
        }
        close("sort")
        printf "total        %13d executions, %d findings\n", all, wrong
        exit wrong > 0
    }' "$temporary/results"
