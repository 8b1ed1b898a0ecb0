#!/bin/sh
# Usage: books/make-book.sh FOLDER
#
# Makes the embedded book in FOLDER, as described in books/README.md. This takes some hours. A `tabia`
# built with `--features train` must be on the PATH. An interrupted run is resumed. Games and values
# depend on the version of the program, so a test compares only what depends on the files of this folder.
set -eu
books=$(cd "$(dirname "$0")" && pwd)
cd "$1"

lines() {
    tabia book build -q "$books/openings.pgn" --undecided -o lines.tbk --force
    tabia book analyse lines.tbk --min-games 1 --nodes 50000 -o known.tbk
}

# Games from the named lines: the first plies by how often they are named, the others by their value.
games() {
    tabia train games --book known.tbk --random-plies "$1" --nodes 1000 --games "$2" --seed "$3" -o "own$1.games"
}

lines
games 4 3500 20
games 2 3500 20
games 20 3500 23
games 6 1172 20
tabia train pgn own4.games own2.games own20.games own6.games --unique --max-ply 24 > own.pgn
tabia book build -q own.pgn --min-games 2 -o own.tbk --force
tabia book merge lines.tbk own.tbk -o plain.tbk --force
tabia book analyse plain.tbk --known known.tbk --min-games 1 --nodes 40000 -o all.tbk
tabia book analyse all.tbk --min-games 1 --nodes 100000 -o deep.tbk
tabia book analyse deep.tbk --only "$books/doubtful.epd" --min-games 1 --nodes 1000000 --memory 32 -o deeper.tbk
tabia book analyse deeper.tbk --only "$books/doubtful-deep.epd" --min-games 1 --nodes 4000000 --memory 32 -o deepest.tbk
tabia book filter deepest.tbk --avoid "$books/avoid.epd" -o tabia.tbk
