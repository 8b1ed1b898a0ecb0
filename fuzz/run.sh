#!/bin/sh
# Usage: fuzz/run.sh TARGET SECONDS    (targets: pgn, book_file)
#
# Fuzzes with libFuzzer on the stable compiler: `cargo fuzz run TARGET` does the same with more
# comfort, but wants a nightly one. Seeds: books/*.pgn and, for `pgn`, the PGN files below
# $TABIA_DATA/pgn/dirty if there are any. Findings come to fuzz/artifacts.
set -eu
target=$1 seconds=$2
cd "$(dirname "$0")"
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --target "$host" --bin "$target"
mkdir -p "corpus/$target" artifacts
case $target in
    pgn)
        cp ../books/dumb.pgn "corpus/$target/"
        find "${TABIA_DATA:-../../shared/data}/pgn/dirty" -name '*.pgn' -size -8k \
            -exec cp {} "corpus/$target/" \; 2>/dev/null || true ;;
    book_file)
        ../target/quick/tabia book build -q ../books/dumb.pgn -o "corpus/$target/dumb.tbk" ||
            cp ../books/openings.tbk "corpus/$target/" ;;
esac
exec "target/$host/release/$target" -max_total_time="$seconds" -max_len=16384 \
    -artifact_prefix=artifacts/ "corpus/$target"
