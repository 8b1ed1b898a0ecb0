#!/bin/sh
# Usage: books/make-openings.sh FOLDER >books/openings.pgn
#
# Makes PGN of the opening tables a.tsv to e.tsv (columns: eco, name, pgn) of
# https://github.com/lichess-org/chess-openings, which are in the public domain (CC0).
for letter in a b c d e; do
    awk -F '\t' 'NR > 1 { printf "[ECO \"%s\"]\n[Opening \"%s\"]\n\n%s *\n\n", $1, $2, $3 }' "$1/$letter.tsv"
done
