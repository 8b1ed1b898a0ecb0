#!/usr/bin/env python3
"""Generates openings for benches/runner_peers.sh, and compares the output of the programs that it runs.

Usage: runner_games.py openings COUNT
       runner_games.py compare FILE.pgn...        (missing files are left out)
       runner_games.py ratings RATINGS.json ORDO.csv

`compare` replays the games with python-chess. The exit status is 1 if a game has an illegal move or a
result that does not follow from the final position, or if the files contain different games.
"""
import csv
import json
import os
import random
import sys

import chess
import chess.pgn

OPENING_PLIES = 8


def openings(count):
    """Prints different positions after random moves, in which both sides have the same material."""
    source, seen = random.Random(53), set()
    while len(seen) < count:
        board = chess.Board()
        for _ in range(OPENING_PLIES):
            board.push(source.choice(list(board.legal_moves)))
            if board.is_game_over():
                break
        sides = [sorted(piece.piece_type for piece in board.piece_map().values() if piece.color == color)
                 for color in chess.COLORS]
        if sides[0] == sides[1] and not board.is_game_over() and board.epd() not in seen:
            seen.add(board.epd())
            print(board.epd())


def read(path):
    """Returns the results and moves of a file's games, by opening and White, and the number of faulty
    games."""
    games, faults = {}, 0
    with open(path) as file:
        while game := chess.pgn.read_game(file):
            board = game.end().board()
            result = board.result(claim_draw=True)
            # A last comment may explain the end of the game differently, but all games here end by the rules.
            if game.errors or result != game.headers["Result"]:
                faults += 1
                print(f"{path}: round {game.headers.get('Round')}: {game.headers['Result']}, but the board "
                      f"says {result} {game.errors}")
            key = game.board().epd(), game.headers["White"]
            games[key] = result, " ".join(move.uci() for move in game.mainline_moves())
    return games, faults


def compare(paths):
    """Compares all files with the first one. Returns whether all games are valid and identical."""
    found = {path: read(path) for path in paths if os.path.exists(path)}
    first = next(iter(found))
    wrong = sum(faults for _, faults in found.values())
    for path, (games, faults) in found.items():
        reference = found[first][0]
        equal = sum(reference.get(key) == value for key, value in games.items())
        results = sum(reference.get(key, (None,))[0] == value[0] for key, value in games.items())
        wrong += len(reference) - equal
        print(f"{path}: {len(games)} games, {faults} faults; as {first}: {results} results, {equal} move by move")
    return not wrong


def compare_ratings(own, ordo):
    """Prints both ratings of each player, with averages of zero."""
    with open(own) as file:
        ours = {row["name"]: (row["elo"], row["error"]) for row in json.load(file)["players"]}
    with open(ordo) as file:
        rows = [{key.strip(): value.strip() for key, value in row.items() if key} for row in csv.DictReader(file)]
    theirs = {row["PLAYER"]: (float(row["RATING"]), float(row["ERROR"].replace("-", "nan"))) for row in rows}
    means = [sum(elo for elo, _ in table.values()) / len(table) for table in (ours, theirs)]
    print(f"{'player':<10} {'tabia':>8} {'error':>6} {'ordo':>8} {'error':>6}")
    for name, (elo, error) in ours.items():
        other, other_error = theirs[name]
        print(f"{name:<10} {elo - means[0]:>8.1f} {error:>6.1f} {other - means[1]:>8.1f} {other_error:>6.1f}")
    most = max(abs(ours[name][0] - means[0] - theirs[name][0] + means[1]) for name in ours)
    print(f"largest difference: {most:.1f}")


def main():
    command, *arguments = sys.argv[1:] or [""]
    if command == "openings":
        openings(int(arguments[0]))
    elif command == "compare":
        sys.exit(0 if compare(arguments) else 1)
    elif command == "ratings":
        compare_ratings(*arguments)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
