#!/usr/bin/env bash
# Usage: benches/runner_peers.sh
#
# Compares match runners: tabia autoplay, fastchess and cutechess-cli play the same games between
# engines that search a fixed number of nodes. benches/runner_games.py compares results and moves
# with python-chess. Then compares `tabia ratings` with Ordo on the games of a tournament.
#
# Set in the environment: TABIA (the program, target/release/tabia), FASTCHESS, CUTECHESS, ORDO (programs;
# without one, its comparison is left out), GAMES (200), JOBS (games at a time, 2), NODES (2000), OUT (folder
# of the games, target/runners), PYTHON (with python-chess, python3).
set -euo pipefail
cd "$(dirname "$0")/.."
tabia=$(realpath "${TABIA:-target/release/tabia}") games=${GAMES:-200} jobs=${JOBS:-2} nodes=${NODES:-2000}
out=${OUT:-target/runners} python=${PYTHON:-python3}
mkdir -p "$out"
rm -f "$out"/*.pgn "$out"/*.epd

# The second engine searches more nodes, so that it wins more games.
options="--uci --no-book --memory 16"
more=$((nodes * 3 / 2))
"$python" benches/runner_games.py openings "$((games / 2))" > "$out/openings.epd"

# play NAME COMMAND...: runs a runner and prints its speed.
play() {
    local name=$1 begin end
    shift
    begin=$(date +%s.%N)
    "$@" > "$out/$name.log" 2>&1 || (($? == 3 || $? == 4))
    end=$(date +%s.%N)
    awk -v name="$name" -v games="$games" -v time="$(echo "$end - $begin" | bc)" \
        'BEGIN { printf "%-10s %6.1f s  %8.0f games/hour\n", name, time, 3600 * games / time }'
}

play tabia "$tabia" autoplay -1 "$tabia $options" -2 "$tabia $options" --name1 one --name2 two \
    --proto uci --nodes1 "$nodes" --nodes2 "$more" -n "$games" -j "$jobs" --openings "$out/openings.epd" \
    --every 1000000 --pgn "$out/tabia.pgn" --epdout "$out/tabia.epd"
if [[ -x ${FASTCHESS:-} ]]; then
    play fastchess "$FASTCHESS" -config discard=true outname="$out/fastchess.json" \
        -engine name=one cmd="$tabia" args="$options" nodes="$nodes" \
        -engine name=two cmd="$tabia" args="$options" nodes="$more" -each tc=inf \
        -openings file="$out/openings.epd" format=epd order=sequential -rounds "$((games / 2))" -games 2 -repeat \
        -concurrency "$jobs" -pgnout file="$out/fastchess.pgn" nodes=true -epdout file="$out/fastchess.epd"
fi
if [[ -x ${CUTECHESS:-} ]]; then
    read -ra arguments <<< "$options"
    play cutechess "$CUTECHESS" -engine name=one cmd="$tabia" "${arguments[@]/#/arg=}" nodes="$nodes" \
        -engine name=two cmd="$tabia" "${arguments[@]/#/arg=}" nodes="$more" -each proto=uci tc=inf \
        -openings file="$out/openings.epd" format=epd order=sequential -rounds "$((games / 2))" -games 2 -repeat \
        -concurrency "$jobs" -pgnout "$out/cutechess.pgn" -epdout "$out/cutechess.epd"
fi
"$python" benches/runner_games.py compare "$out"/{tabia,fastchess,cutechess}.pgn

if [[ -x ${ORDO:-} ]]; then
    for level in 1 2 3 4 5 6; do
        printf '[[engine]]\nname = "n%s"\ncommand = "%s %s"\nprotocol = "uci"\nnodes = %s\n\n' \
            "$level" "$tabia" "$options" "$((nodes * level / 4 + 50))"
    done > "$out/engines.toml"
    "$tabia" autoplay --engines "$out/engines.toml" -n 20 -j "$jobs" --openings "$out/openings.epd" --every 1000000 \
        --pgn "$out/tournament.pgn" > "$out/tournament.log"
    "$tabia" ratings "$out/tournament.pgn" --json > "$out/ratings.json"
    "$ORDO" -Q -W -D -a 0 -z 200.23 -s 1000 -n "$jobs" -p "$out/tournament.pgn" -c "$out/ordo.csv" > "$out/ordo.log"
    "$python" benches/runner_games.py ratings "$out/ratings.json" "$out/ordo.csv"
fi
