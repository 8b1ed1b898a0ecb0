#!/usr/bin/env bash
# Usage: benches/peers.sh [PEER...]
#
# Plays matches against engines that Debian packages (default: gnuchess phalanx toga2 glaurung).
# Each engine has one thread, 16 MB and no book. The openings are lines of eight moves from the
# embedded book. Each is played twice, with colours reversed in the second game. Set in the
# environment: GAMES (200), TC (3+0.05), JOBS (games at a time, 2), TABIA (the program), OPTIONS
# (further arguments of tabia), OUT (folder of the games).
#
# Do not use a faster time control, because toga2 keeps a reserve of about a second. gnuchess uses
# UCI here, because its xboard mode loses input.
set -euo pipefail
cd "$(dirname "$0")/.."
tabia=${TABIA:-target/dist/tabia} games=${GAMES:-200} tc=${TC:-3+0.05} jobs=${JOBS:-2}
out=${OUT:-target/peers}
PATH=$PATH:/usr/games
mkdir -p "$out"

# The command line of each peer, and further arguments of autoplay.
peer_arguments() {
    case $1 in
    gnuchess) echo "-2|gnuchess --uci|--option2|Hash=16|--option2|OwnBook=false" ;;
    phalanx) echo "-2|phalanx -t 16384 -b- -l-" ;;
    toga2) echo "-2|toga2|--option2|OwnBook=false|--option2|Hash=16" ;;
    glaurung) echo "-2|glaurung|--option2|OwnBook=false|--option2|Hash=16|--option2|Threads=1" ;;
    ethereal) echo "-2|ethereal-chess|--option2|Hash=16|--option2|MoveOverhead=20" ;;
    stockfish) echo "-2|stockfish|--option2|Hash=16|--option2|Threads=1" ;;
    *) echo "unknown peer: $1 (see peer_arguments in this script)" >&2; return 1 ;;
    esac
}

(($# > 0)) || set -- gnuchess phalanx toga2 glaurung
for peer; do
    IFS='|' read -ra arguments <<< "$(peer_arguments "$peer")"
    echo "=== $peer: $games games, $tc"
    # The exit code shows the winner.
    "$tabia" autoplay -1 "$tabia -x --no-book --memory 16 ${OPTIONS:-}" "${arguments[@]}" \
        --tc "$tc" -n "$games" -j "$jobs" --openings embedded --opening-plies 16 --resign 4,700 --draw 60,6,8 \
        --pgn "$out/$peer.pgn" --log "$out/$peer.log" --every 20 --event "Tabia against $peer" ||
        (($? == 3 || $? == 4))
done
