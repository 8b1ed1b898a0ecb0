#!/usr/bin/env bash
# Usage: fuzz/run.sh TARGET SECONDS [ARGUMENT...]    one target; arguments are libFuzzer's, such as a
#                                                    folder with more inputs
#        fuzz/run.sh all SECONDS                     every target for this time, one on each core
#        fuzz/run.sh TARGET 0 FILE                   reproduce a finding
#        fuzz/run.sh --replay                        every target, on the committed inputs only
#        fuzz/run.sh --long HOURS                    all targets for this time on all cores
#        fuzz/run.sh --minimise                      add the inputs found so far to the corpus
#        fuzz/run.sh --package FOLDER                the programs and `long.sh`, for another machine
#
# Fuzzes with libFuzzer on the stable compiler. `cargo fuzz run TARGET` is more convenient, but
# requires a nightly compiler. Each file in fuzz/fuzz_targets is a target and documents its checks.
# Inputs are read from fuzz/corpus, which is part of the repository, and from the targets' own seeds.
# Findings and new inputs are written to fuzz/found.
set -euo pipefail
# Limits of the committed corpus of a target: bytes of an input, and number of inputs.
readonly LARGEST=4096 MOST=40
here=$(cd "$(dirname "$0")" && pwd)
export OUT=$here/found
binaries=${CARGO_TARGET_DIR:-$here/target}/release

# Builds all targets, or only the named one, and links the programs into a separate folder.
build() {
    local bins=(--bins) target
    (($# == 0)) || bins=(--bin "$1")
    RUSTC_WRAPPER=$here/instrumented-rustc \
        cargo build --manifest-path "$here/Cargo.toml" --release --locked "${bins[@]}"
    mkdir -p "$binaries/targets" "$here/corpus" "$OUT/inputs"
    for target in $(targets); do
        [[ ! -x $binaries/$target ]] || ln -f "$binaries/$target" "$binaries/targets/$target"
    done
}

targets() {
    basename -s .rs "$here"/fuzz_targets/*.rs
}

# Writes the seeds of the targets, and adds a small selection of all inputs to the corpus.
minimise() {
    local target inputs all
    all=$(mktemp -d)
    for target in $(targets); do
        inputs=$all/$target
        mkdir -p "$inputs" "$here/corpus/$target" "$OUT/inputs/$target"
        (cd "$all" && TMPDIR=$all TABIA_SEEDS=$inputs "$binaries/targets/$target" -runs=0 \
            "$inputs") > /dev/null 2>&1
        find "$OUT/inputs/$target" -type f -size "-${LARGEST}c" -exec cp -n {} "$inputs" \;
        mkdir "$all/merged"
        (cd "$all" && TMPDIR=$all "$binaries/targets/$target" -merge=1 -max_len="$LARGEST" \
            "$all/merged" "$here/corpus/$target" "$inputs") > /dev/null 2>&1
        rm -r "$here/corpus/$target"
        mkdir "$here/corpus/$target"
        # Select inputs of all sizes.
        find "$all/merged" -type f -printf '%s %p\n' | sort -n | awk -v most="$MOST" '
            { files[NR] = $2 }
            END { for (n = 0; n < most && n < NR; n++)
                print files[NR <= most ? n + 1 : 1 + int(n * (NR - 1) / (most - 1))] }' |
            xargs -I{} cp {} "$here/corpus/$target/"
        rm -r "$all/merged"
        echo "$target: $(find "$here/corpus/$target" -type f | wc -l) inputs," \
            "$(cat "$here/corpus/$target"/* | wc -c) bytes"
    done
    rm -r "$all"
}

# Runs each target on its committed inputs, which gives the same result every time. By default, this
# shares the compiled dependencies of `cargo test`.
replay() {
    local folder
    folder=$(mktemp -d)
    REPLAY=yes RUSTC_WRAPPER=$here/instrumented-rustc CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/../target} \
        TMPDIR=$folder cargo run --manifest-path "$here/Cargo.toml" --locked --no-default-features \
        --features replay --bin replay
    rm -r "$folder"
}

case $1 in
    all)
        build
        # `long.sh` divides the time of all cores among the targets.
        exec "$here/long.sh" "$(($2 * ($(targets | wc -l) + $(nproc) - 1) / $(nproc)))" \
            "$binaries/targets" "$here/corpus"
        ;;
    --replay)
        replay
        ;;
    --long)
        build
        exec "$here/long.sh" "$(($2 * 3600))" "$binaries/targets" "$here/corpus"
        ;;
    --minimise)
        build
        minimise
        ;;
    --package)
        build
        mkdir -p "$2/targets"
        for target in $(targets); do
            strip -o "$2/targets/$target" "$binaries/$target"
        done
        cp -r "$here/corpus" "$2/"
        cp "$here/long.sh" "$2/run-long.sh"
        ;;
    *)
        target=$1 seconds=$2
        shift 2
        build "$target"
        if [[ $seconds == 0 ]]; then
            exec "$binaries/$target" "$(realpath "$1")"
        fi
        mkdir -p "$OUT/inputs/$target" "$here/corpus/$target"
        TMPDIR=$(mktemp -d)
        export TMPDIR
        trap 'rm -rf "$TMPDIR"' EXIT
        TABIA_SEEDS=$OUT/inputs/$target "$binaries/$target" -max_total_time="$seconds" -max_len=16384 \
            -print_final_stats=1 -artifact_prefix="$OUT/$target-" "$OUT/inputs/$target" \
            "$here/corpus/$target" "$@"
        ;;
esac
