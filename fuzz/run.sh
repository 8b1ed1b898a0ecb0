#!/bin/sh
# Usage: fuzz/run.sh TARGET SECONDS    (targets: pgn, book_file, cecp, uci)
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
        # The embedded book is longer than an input may be, and would be cut to nothing of worth.
        (cd .. && env -u RUSTFLAGS cargo run --release --locked -- book build -q books/dumb.pgn \
            -o "fuzz/corpus/$target/dumb.tbk") ;;
    cecp)
        printf '%s\n' 'level 40 5:30 0.1' 'st 0.5' 'time 6000' 'ping 1' 'usermove e2e4' 'Nf3' \
            'setboard rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1' 'rating 2000 1900' \
            'result 1-0 {White mates}' 'option OwnBook=1' 'egtpath syzygy /tb' 'exclude all' \
            'feature ping=1 myname="x y"' '9 12 34 5678 10 20 30\t1. e4 e5' 'move e7e8q' \
            'stat01: 10 20 3 4 5 e2e4' 'Illegal move (why): e2e5' > "corpus/$target/lines" ;;
    uci)
        printf '%s\n' 'position startpos moves e2e4 e7e5' 'position fen 8/8/8/8/8/8/8/8 w - - 0 1' \
            'go wtime 1000 btime 1000 winc 10 binc 10 movestogo 3 searchmoves e2e4 d2d4 ponder' \
            'go depth 3 nodes 5 mate 2 movetime 7 infinite' 'setoption name Clear Hash' \
            'setoption name Book File value a b' 'register later' > "corpus/$target/lines" ;;
esac
exec "target/$host/release/$target" -max_total_time="$seconds" -max_len=16384 \
    -artifact_prefix=artifacts/ "corpus/$target"
