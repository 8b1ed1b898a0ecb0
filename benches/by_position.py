#!/usr/bin/env python3
"""Compare opening results counted by position with results counted by move.

Usage: benches/by_position.py GAMES.pgn...

Needs python-chess. Reads the first 40 plies of every game that has a result and the usual start
position, and prints two tables:

1. Among the moves that lead to a position reached by 20 or more games, the share of moves to positions that
   are also reached by other moves, and to positions that were reached at least twice as often as the move
   was played.
2. How well one half of the games predicts the other half. For each move that was played at least three
   times in both halves, White's mean score with this move in the other half is predicted in two ways: from
   the games that played the move in this position ("by move"), and from all games that reached the position
   after it ("by position"). Moves for which these are the same games are skipped. The table shows the root
   mean square errors over 20 random divisions, in which each half predicts the other.
"""

import random
import sys
from collections import defaultdict

import chess
import chess.pgn

PLIES = 40
FREQUENT = 20
LEAST = 3
HALVINGS = 20
CLASSES = [(3, 9), (10, 29), (30, None)]
SCORES = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}


class Opening(chess.pgn.BaseVisitor):
    """Collects the keys of the positions of a game's first plies, and its result."""

    def begin_game(self):
        self.headers = {}
        self.steps = []
        self.broken = False

    def visit_header(self, name, value):
        self.headers[name] = value

    def end_headers(self):
        usual = "FEN" not in self.headers and "Variant" not in self.headers
        if not usual or self.headers.get("Result") not in SCORES:
            return chess.pgn.SKIP
        return None

    def begin_variation(self):
        return chess.pgn.SKIP

    def visit_move(self, board, move):
        if len(self.steps) < PLIES:
            before = self.steps[-1][1] if self.steps else key(board)
            board.push(move)
            self.steps.append((before, key(board)))
            board.pop()

    def handle_error(self, error):
        self.broken = True

    def result(self):
        return SCORES.get(self.headers.get("Result")), self.steps


def key(board):
    """Identifies a position: men, side to move, castling rights and a possible en passant."""
    return hash(board._transposition_key())


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        while (game := chess.pgn.read_game(file, Visitor=Opening)) is not None:
            score, steps = game
            if score is not None and steps:
                yield score, steps


class Counts:
    """Games and White's points, by move and by position."""

    def __init__(self, games):
        self.moves = defaultdict(lambda: [0, 0.0])
        self.positions = defaultdict(lambda: [0, 0.0])
        for score, steps in games:
            self.add(score, steps)

    def add(self, score, steps):
        # A game counts once for a position or a move, even if it repeats it.
        for step in set(steps):
            add(self.moves[step], score)
        for position in {after for _, after in steps}:
            add(self.positions[position], score)


def add(entry, score):
    entry[0] += 1
    entry[1] += score


def share(part, whole):
    return f"{100 * part / whole:.0f}%" if whole else "-"


def print_orders(counts):
    moves = shared = twice = 0
    for (_, after), (played, _) in counts.moves.items():
        reached = counts.positions[after][0]
        if reached >= FREQUENT:
            moves += 1
            shared += reached > played
            twice += reached >= 2 * played
    print(f"moves to positions that {FREQUENT} or more games reach: {moves}")
    print(f"  to positions also reached by another move: {share(shared, moves)}")
    print(f"  to positions reached at least twice as often: {share(twice, moves)}")


def print_errors(games):
    sums = {bounds: [0, 0.0, 0.0] for bounds in CLASSES}
    shuffled = random.Random(1)
    for _ in range(HALVINGS):
        shuffled.shuffle(games)
        halves = Counts(games[::2]), Counts(games[1::2])
        for known, other in (halves, halves[::-1]):
            add_errors(sums, known, other)
    print("root mean square error of predictions for the other half of the games:")
    for (least, most), (number, move, position) in sums.items():
        if number:
            times = f"{least}-{most}" if most else f"{least} or more"
            errors = f"by move {(move / number) ** 0.5:.3f}, by position {(position / number) ** 0.5:.3f}"
            print(f"  played {times} times: {errors} ({number / HALVINGS / 2:.0f} moves a half)")


def add_errors(sums, known, other):
    for step, (played, points) in known.moves.items():
        reached, all_points = known.positions[step[1]]
        again, target = other.moves.get(step, (0, 0.0))
        if played < LEAST or again < LEAST or reached == played:
            continue
        target /= again
        entry = sums[next(b for b in CLASSES if b[1] is None or played <= b[1])]
        entry[0] += 1
        entry[1] += (points / played - target) ** 2
        entry[2] += (all_points / reached - target) ** 2


def main(paths):
    if not paths or paths[0] in ("-h", "--help"):
        sys.exit(__doc__)
    games = [game for path in paths for game in read(path)]
    print(f"games: {len(games)}")
    print_orders(Counts(games))
    print_errors(games)


if __name__ == "__main__":
    main(sys.argv[1:])
