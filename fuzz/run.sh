#!/bin/sh
# Usage: fuzz/run.sh TARGET SECONDS [ARGUMENT...]    one target; arguments are libFuzzer's
#        fuzz/run.sh all SECONDS [ARGUMENT...]       every target, each for this time
#        fuzz/run.sh TARGET 0 FILE                   reproduce a finding
#
# Fuzzes with libFuzzer on the stable compiler. `cargo fuzz run TARGET` is more convenient, but
# requires a nightly compiler. Each file in fuzz/fuzz_targets is a target and documents its checks.
# Seeds come from the targets, books/dumb.pgn, and $TABIA_DATA (or ../shared/data beside the project)
# if it exists. Findings are written to fuzz/artifacts.
set -eu
target=$1 seconds=$2
shift 2
# Targets may change the working folder.
[ "$seconds" != 0 ] || set -- "$(realpath "$1")"
cd "$(dirname "$0")"
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
host=$(rustc -vV | sed -n 's/^host: //p')
data=${TABIA_DATA:-../../shared/data}
case $target in
    all) bins=--bins targets=$(basename -s .rs fuzz_targets/*.rs) ;;
    *) bins="--bin $target" targets=$target ;;
esac
# shellcheck disable=SC2086 # two words
cargo build --release --locked --target "$host" $bins
binaries=${CARGO_TARGET_DIR:-target}/$host/release
# Targets that read files write them first.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# Adds each line of a file to a target's seeds as a separate file.
lines() {
    head -n "$2" "$1" | split -l 1 - "corpus/$target/$(basename "$1")-"
}

seeds() {
    case $target in
        pgn)
            cp ../books/dumb.pgn "corpus/$target/"
            find "$data/pgn/dirty" -name '*.pgn' -size -8k -exec cp {} "corpus/$target/" \; \
                2>/dev/null || true ;;
        fen | epd)
            for file in "$data"/epd/destructive.epd "$data"/epd/bratko-kopec.epd; do
                [ ! -e "$file" ] || lines "$file" 100
            done ;;
        cecp)
            printf '%s\n' 'level 40 5:30 0.1' 'st 0.5' 'time 6000' 'ping 1' 'usermove e2e4' 'Nf3' \
                'setboard rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' \
                'rating 2000 1900' 'result 1-0 {White mates}' 'option OwnBook=1' \
                'egtpath syzygy /tb' 'exclude all' 'feature ping=1 myname="x y"' \
                '9 12 34 5678 10 20 30\t1. e4 e5' 'move e7e8q' 'stat01: 10 20 3 4 5 e2e4' \
                'Illegal move (why): e2e5' > "corpus/$target/lines" ;;
        uci)
            printf '%s\n' 'position startpos moves e2e4 e7e5' \
                'position fen 8/8/8/8/8/8/8/8 w - - 0 1' \
                'go wtime 1000 btime 1000 winc 10 binc 10 movestogo 3 searchmoves e2e4 d2d4 ponder' \
                'go depth 3 nodes 5 mate 2 movetime 7 infinite' 'setoption name Clear Hash' \
                'setoption name Book File value a b' 'register later' > "corpus/$target/lines" ;;
    esac
}

mkdir -p artifacts
if [ "$seconds" = 0 ]; then
    "$binaries/$target" "$@"
    exit
fi
for target in $targets; do
    mkdir -p "corpus/$target"
    seeds
    echo "=== $target"
    TABIA_SEEDS="$PWD/corpus/$target" "$binaries/$target" -max_total_time="$seconds" \
        -max_len=16384 -print_final_stats=1 -artifact_prefix="$PWD/artifacts/$target-" "$@" \
        "$PWD/corpus/$target"
done
