#!/usr/bin/env python3
"""Measures how accurate the predicted shares of games in a repertoire are.

usage: benches/repertoire_shares.py PROGRAM GAMES.pgn... [--seeds N,N] [--share P] [--min-probability P,P]

Splits the games at random. Makes a repertoire from one part, predicts the shares with `tabia repertoire
check` and the same part, and measures them in the other part with python-chess: the player follows the
repertoire, and each reply is chosen as often as in these games. Prints both, and the differences in points.
Needs the package `chess`.
"""

import argparse
import collections
import io
import json
import os
import random
import re
import subprocess
import tempfile

import chess
import chess.pgn

PLIES = (8, 12, 16)
# The exit status of `tabia repertoire check` if it finds anything.
FOUND = 4
RESULT = re.compile(r"(1-0|0-1|1/2-1/2)\s*$")


class MainLine(chess.pgn.BaseVisitor):
    """Collects the first moves of the main line, with the position before each."""

    def begin_game(self):
        self.steps = []

    def begin_variation(self):
        return chess.pgn.SKIP

    def visit_move(self, board, move):
        if len(self.steps) < max(PLIES):
            self.steps.append((key(board), move))

    def result(self):
        return self.steps


def key(board):
    return board._transposition_key()


def read_games(paths):
    """Returns the text and the moves of each game with a result and without a FEN, without duplicates."""
    games = {}
    for path in paths:
        with open(path, encoding="latin-1") as file:
            text = file.read().replace("\r\n", "\n")
        for game in re.split(r"\n(?=\[Event )", text):
            moves = " ".join(game.partition("\n\n")[2].split())
            if "[FEN" not in game and RESULT.search(moves):
                games.setdefault(moves, game.strip())
    return [
        (game, chess.pgn.read_game(io.StringIO(game), Visitor=MainLine)) for game in games.values()
    ]


def read_repertoire(path):
    graph = collections.defaultdict(set)
    with open(path, encoding="utf-8") as file:
        while game := chess.pgn.read_game(file):
            nodes = [game]
            while nodes:
                node = nodes.pop()
                board = node.board()
                graph[key(board)].update(child.move for child in node.variations)
                nodes += node.variations
    return graph


def measure(graph, side, games):
    """Returns the shares of games in the repertoire."""
    counts = collections.defaultdict(collections.Counter)
    for _, steps in games:
        for position, move in steps:
            counts[position][move] += 1
    layer, share, shares = {key(chess.Board()): (1.0, chess.Board())}, 1.0, {}
    for ply in range(1, max(PLIES) + 1):
        following, at_risk = {}, 0.0
        for position, (probability, board) in layer.items():
            own = board.turn == side
            moves = dict.fromkeys(graph[position], 1) if own else counts.get(position, {})
            total = sum(moves.values())
            # Games without a continuation drop out.
            at_risk += probability if total or own else 0.0
            for move, weight in moves.items():
                board.push(move)
                reached = key(board)
                if reached in graph:
                    before, at = following.get(reached, (0.0, None))
                    at = at or board.copy(stack=False)
                    following[reached] = (before + probability * weight / total, at)
                board.pop()
        kept = sum(probability for probability, _ in following.values())
        share *= kept / at_risk if at_risk else 1.0
        shares[ply], layer = share, following
    return [100 * shares[ply] for ply in PLIES]


def run(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, FOUND):
        raise SystemExit(done.stderr)
    return done.stdout


def compare(program, games, folder, side, least):
    """Returns the predicted and the measured shares."""
    predicting, measuring = games
    source, book, repertoire = (
        os.path.join(folder, name) for name in ("games.pgn", "games.tbk", "repertoire.pgn")
    )
    with open(source, "w", encoding="latin-1") as file:
        file.write("\n\n".join(text for text, _ in predicting) + "\n")
    run(program, "book", "build", "-q", source, "-o", book, "--force")
    chosen = ("--side", side, "--reference", book, "--min-probability", least)
    run(program, "repertoire", "grow", *chosen, "-o", repertoire, "--force")
    found = json.loads(run(program, "repertoire", "check", repertoire, *chosen, "--json"))
    predicted = [100 * row["share"] for row in found["shares"]]
    return predicted, measure(read_repertoire(repertoire), side == "white", measuring)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("games", nargs="+")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--share", type=float, default=0.5)
    parser.add_argument("--min-probability", default="0.001")
    options = parser.parse_args()
    games = read_games(options.games)
    differences = []
    for seed in map(int, options.seeds.split(",")):
        shuffled = random.Random(seed).sample(games, len(games))
        number = int(options.share * len(games))
        parts = shuffled[:number], shuffled[number:]
        for least in options.min_probability.split(","):
            for side in ("white", "black"):
                with tempfile.TemporaryDirectory() as folder:
                    predicted, measured = compare(options.program, parts, folder, side, least)
                differences.append([a - b for a, b in zip(predicted, measured)])
                row = " ".join(f"{a:.1f}/{b:.1f} ({a - b:+.1f})" for a, b in zip(predicted, measured))
                print(f"seed {seed}, {side}, {least}: {row}", flush=True)
    for ply, column in zip(PLIES, zip(*differences)):
        mean = sum(column) / len(column)
        spread = (sum(value**2 for value in column) / len(column)) ** 0.5
        outside = sum(abs(value) > 2 for value in column)
        errors = f"mean {mean:+.1f}, rms {spread:.1f}, more than 2 points: {outside} of {len(column)}"
        print(f"{ply} plies: {errors}")


if __name__ == "__main__":
    main()
