#!/usr/bin/env bash
# Usage: benches/book_build.sh [PGN-FOLDER] [MEGABYTES]
#
# Compares book making with polyglot and pgn-extract on the same games, side by side in one run, to
# 40 plies. The games of the folder (default: ../shared/data/pgn/pgnmentor) are cleaned by
# pgn-extract, since polyglot aborts on a broken one, and repeated until there are so many megabytes
# (default 200). Times are processor seconds (user + system) and wall clock seconds, the best of
# three rounds; on a busy machine the processor seconds of one thread compare best.
# Then the memory cap: a build with --memory 64M against one without, of the same games.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-../shared/data/pgn/pgnmentor} megabytes=${2:-200} rounds=${ROUNDS:-3}
tabia=${TABIA:-target/release/tabia}
[ -x "$tabia" ] || { echo "build first: cargo build --release" >&2; exit 1; }
for program in polyglot pgn-extract; do
    PATH=$PATH:/usr/games command -v $program >/dev/null || { echo "$program is missing" >&2; exit 1; }
done
PATH=$PATH:/usr/games
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
(for file in "$folder"/*.pgn; do cat "$file"; echo; done) >"$work/raw.pgn"
pgn-extract -s "$work/raw.pgn" -o "$work/clean.pgn" >/dev/null 2>&1
size=$(stat -c %s "$work/clean.pgn")
for ((bytes = 0; bytes < megabytes * 1000000; bytes += size)); do cat "$work/clean.pgn"; done >"$work/games.pgn"
megabytes=$(awk -v bytes="$(stat -c %s "$work/games.pgn")" 'BEGIN { printf "%.0f", bytes / 1e6 }')

# Prints processor and wall clock seconds of a command, the best of the rounds.
measure() {
    for ((round = 0; round < rounds; round++)); do
        { TIMEFORMAT='%3U %3S %3R'; time "$@" >/dev/null 2>&1; } 2>&1
    done | awk '{ cpu = $1 + $2; if (!best || cpu < best) best = cpu; if (!wall || $3 < wall) wall = $3 }
                END { print best, wall }'
}

echo "$megabytes MB of games, 40 plies, best of $rounds rounds"
printf '%-28s %9s %9s %8s %10s\n' program cpu-s wall-s MB/s 'x polyglot'
base=
row() {
    local name=$1; shift
    read -r cpu wall < <(measure "$@")
    base=${base:-$wall}
    awk -v name="$name" -v cpu="$cpu" -v wall="$wall" -v mb="$megabytes" -v base="$base" \
        'BEGIN { printf "%-28s %9.2f %9.2f %8.0f %10.1f\n", name, cpu, wall, mb / wall, base / wall }'
}
row polyglot polyglot make-book -pgn "$work/games.pgn" -bin "$work/book.bin" -max-ply 40
row pgn-extract pgn-extract -s -r "$work/games.pgn"
for threads in 1 2 $(($(nproc) > 2 ? $(nproc) : 0)); do
    [ "$threads" = 0 ] && continue
    row "tabia, threads: $threads" "$tabia" book build -q "$work/games.pgn" -o "$work/t$threads.tbk" --threads "$threads"
done
cmp "$work/t1.tbk" "$work/t2.tbk" && echo "one thread and two make the same bytes"

# The whole games, not only their openings, need the memory.
peak() { /usr/bin/env python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"; }
for cap in 64M 4G; do
    echo "--memory $cap --max-ply 300: peak $(peak "$tabia" book build -q "$work/games.pgn" \
        -o "$work/m$cap.tbk" --max-ply 300 --memory "$cap") MB resident"
done
cmp "$work/m64M.tbk" "$work/m4G.tbk" && echo "and the same bytes"
