#!/usr/bin/env bash
# Measures the requests per second of `tabia serve`, for positions and for a static file:
# benches/serve_load.sh TABIA BOOK [SECONDS] [CONNECTIONS] [ROUNDS] [ENDPOINTS]
#
# Requests random positions of the whole book, so that hardly any answer is requested twice. Then
# repeats this with pauses, at 80% of the measured rate. Needs wrk (in Debian). The server and wrk
# run on the same machine and share its processors. The requests are prepared before the
# measurement, and those for the static file are chosen in the same way, so that wrk's own work is
# the same for each endpoint.
set -euo pipefail

readonly program=$1 book=$2 seconds=${3:-20} connections=${4:-16}
readonly rounds=${5:-3} endpoints=${6:-/book /masters}
readonly positions=200000
# The number of connections in the run with pauses. Each connection pauses for some milliseconds
# between an answer and the next request.
readonly calm=64
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
    until grep -qs open "$folder/log"; do sleep 0.2; done
    address=$(head -1 "$folder/address")
    address=${address%/}
    echo "$(wc -l < "$folder/positions") positions, $connections connections, $seconds s each"
    for ((round = 1; round <= rounds; round++)); do
        measure static -c"$connections" -s "$folder/ask.lua" -- "$address" /style.css
        # The list of endpoints is split into words.
        # shellcheck disable=SC2086
        for endpoint in $endpoints; do
            measure "$endpoint" -c"$connections" -s "$folder/ask.lua" -- "$address" "$endpoint"
            pause=$(awk -v most="$(sed -n 's/Requests\/sec: *//p' "$folder/said")" -v calm="$calm" \
                'BEGIN {print 1000 * calm / (0.8 * most)}')
            PAUSES=yes measure "$endpoint, 80%" -c"$calm" -s "$folder/ask.lua" -- "$address" "$endpoint" "$pause"
        done
        echo "memory: $(awk '/VmRSS/ {print $2, $3}' "/proc/$server/status")"
    done
}

# Runs wrk and prints the requests per second and the median and 99th percentile of the latency.
measure() {
    local name=$1
    shift
    printf '%-15s' "$name"
    POSITIONS=$folder/positions wrk -t2 -d"$seconds" --latency "$@" > "$folder/said"
    awk '/50%|99%|Requests\/sec|Non-2xx/ {printf "  %s", $0} END {print ""}' "$folder/said" \
        | tr -s ' '
}

write_script() {
    cat > "$folder/ask.lua" <<'LUA'
local requests, threads, pause = {}, 0, 0
function setup(thread) thread:set("seed", threads) threads = threads + 1 end
function init(arguments)
  math.randomseed(seed)
  pause = tonumber(arguments[2]) or 0
  for line in io.lines(os.getenv("POSITIONS")) do
    requests[#requests + 1] = wrk.format("GET", arguments[1] .. "?fen=" .. line)
  end
end
-- Whole milliseconds, chosen at random so that the mean is right. The answer itself takes some
-- tenths of a millisecond.
if os.getenv("PAUSES") then function delay() return math.floor(math.max(pause - 0.8, 0) + math.random()) end end
function request() return requests[math.random(#requests)] end
LUA
}

main
