#!/usr/bin/env bash
# How many requests `tabia serve` answers, beside a file that the same server only hands out:
# benches/serve_load.sh TABIA BOOK [SECONDS] [CONNECTIONS]
#
# Asks for positions drawn by lot from all of the book, so that hardly any answer is asked for twice.
# Needs wrk (Debian has it) and runs on one machine: server and wrk share its processors.
set -euo pipefail

readonly program=$1 book=$2 seconds=${3:-20} connections=${4:-16}
readonly positions=200000 rounds=3
folder=$(mktemp -d)
readonly folder
server=

finish() {
    [[ -z $server ]] || kill "$server" 2> /dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

main() {
    "$program" book dump "$book" --format fen 2> /dev/null | shuf -n "$positions" | tr ' ' '_' > "$folder/positions"
    write_script
    "$program" serve "$book" --listen 0 > "$folder/address" 2> "$folder/log" &
    server=$!
    until grep -q open "$folder/log"; do sleep 0.2; done
    address=$(head -1 "$folder/address")
    address=${address%/}
    echo "$(wc -l < "$folder/positions") positions, $connections connections, $seconds s each"
    for ((round = 1; round <= rounds; round++)); do
        measure static -- "$address/style.css"
        measure /book -s "$folder/ask.lua" -- "$address" /book
        measure /masters -s "$folder/ask.lua" -- "$address" /masters
        echo "memory: $(awk '/VmRSS/ {print $2, $3}' "/proc/$server/status")"
    done
}

# Runs wrk and tells requests a second and the times that half and 99% of the answers kept.
measure() {
    local name=$1
    shift
    printf '%-9s' "$name"
    POSITIONS=$folder/positions wrk -t2 -c"$connections" -d"$seconds" --latency "$@" \
        | awk '/50%|99%|Requests\/sec|Non-2xx/ {printf "  %s", $0} END {print ""}' | tr -s ' '
}

write_script() {
    cat > "$folder/ask.lua" <<'LUA'
local paths, threads = {}, 0
function setup(thread) thread:set("seed", threads) threads = threads + 1 end
function init(arguments)
  math.randomseed(seed)
  for line in io.lines(os.getenv("POSITIONS")) do paths[#paths + 1] = arguments[1] .. "?fen=" .. line end
end
function request() return wrk.format("GET", paths[math.random(#paths)]) end
LUA
}

main
