#!/usr/bin/env bash
# Usage: benches/book_build.sh [PGN-FOLDER] [MEGABYTES]
#
# Compares the time that Tabia takes to build a book of 40 plies with the times of polyglot and
# pgn-extract, on the same games and in one run. pgn-extract first removes invalid games from the
# folder (default: ../shared/data/pgn/pgnmentor), since polyglot aborts on them. The remaining games
# are repeated up to this many megabytes (default 200). Times are processor seconds (user + system)
# and wall clock seconds, the best of three rounds. On a busy machine, the processor seconds of one
# thread are most comparable. After that, the script compares the memory use of builds of the same
# games with and without --memory 64M.
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

# Prints a line per program and round: name, processor and wall clock seconds. The programs take
# turns, so that other load affects all of them equally.
once() {
    local name=$1; shift
    { TIMEFORMAT='%3U %3S %3R'; time "$@" >/dev/null 2>&1; } 2>&1 |
        awk -v name="$name" '{ print name, $1 + $2, $3 }' >>"$work/times"
}
cores=$(nproc)
threads="1 2"; [ "$cores" -gt 2 ] && threads="1 2 $cores"
for ((round = 0; round < rounds; round++)); do
    once polyglot polyglot make-book -pgn "$work/games.pgn" -bin "$work/book.bin" -max-ply 40
    once pgn-extract pgn-extract -s -r "$work/games.pgn"
    for n in $threads; do
        once "tabia:$n" "$tabia" book build -q "$work/games.pgn" -o "$work/t$n.tbk" --threads "$n"
    done
done
echo "$megabytes MB of games, 40 plies, best of $rounds rounds; tabia:N has N threads"
awk -v mb="$megabytes" '
    !($1 in cpu) { order[++count] = $1; cpu[$1] = $2; wall[$1] = $3 }
    { if ($2 < cpu[$1]) cpu[$1] = $2; if ($3 < wall[$1]) wall[$1] = $3 }
    END {
        printf "%-12s %8s %8s %8s %14s %14s\n", "program", "cpu-s", "wall-s", "MB/s", "x polyglot cpu", "wall"
        for (i = 1; i <= count; i++) {
            name = order[i]
            printf "%-12s %8.2f %8.2f %8.0f %14.1f %14.1f\n", name, cpu[name], wall[name],
                mb / wall[name], cpu["polyglot"] / cpu[name], wall["polyglot"] / wall[name]
        }
    }' "$work/times"
cmp "$work/t1.tbk" "$work/t2.tbk" && echo "one thread and two make the same bytes"

# Use a ply limit that includes whole games, because they need the most memory.
peak() {
    /usr/bin/env python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}
for cap in 64M 4G; do
    echo "--memory $cap --max-ply 300: peak $(peak "$tabia" book build -q "$work/games.pgn" \
        -o "$work/m$cap.tbk" --max-ply 300 --memory "$cap") MB resident"
done
cmp "$work/m64M.tbk" "$work/m4G.tbk" && echo "and the same bytes"
