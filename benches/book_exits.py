#!/usr/bin/env python3
"""Measures the loss of the last book moves: another engine evaluates the positions where the book ends.

Usage: benches/book_exits.py TABIA BOOK --judge STOCKFISH [-n 200] [--seed 1] [--policy prefer]
                             [--nodes 200000] [--last 2] [--most 60] [--keep FILE] [--epd FILE]

Plays N openings from the start position. Both sides choose moves with the probabilities that `tabia book
why` shows, until the book has no move to play. This position is the exit. The judge evaluates the positions
before and after each of the --last moves of an opening (0: all moves) with --nodes nodes, one thread and an
empty table. The loss of a move is the value of the position before it minus the value after it, both for
the side that moved, in centipawns. The loss of an exit is the largest loss of these moves. The value of the
exit itself is also printed.

Prints each exit that loses more than --most, and then a summary. The exit status is 1 if there is such an
exit. The same seed gives the same openings. --keep stores the judge's values, so that the same command
resumes where it was interrupted. --epd writes the moves that lose more than --most as lines of EPD with
`am` (avoid move).
"""
import argparse
import json
import random
import re
import subprocess
import sys

import chess
import chess.engine

# Value of a decided position, in centipawns.
MATE = 10_000
# Maximum length of an opening, in plies.
LONGEST = 100


class Book:
    """The probabilities of book moves, from `tabia book why`."""

    def __init__(self, program, book, policy):
        self.command = [program, "book", "why", book, "--policy", policy]
        self.known = {}

    def chances(self, board):
        """The playable moves, each with its probability in percent."""
        moves = " ".join(move.uci() for move in board.move_stack)
        if moves not in self.known:
            self.known[moves] = self.ask(board, moves)
        return self.known[moves]

    def ask(self, board, moves):
        place = ["--moves", moves] if moves else []
        answer = subprocess.run(self.command + place, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            if "no move in" in answer.stderr:
                return []
            sys.exit(f"{' '.join(self.command)}: {answer.stderr.strip()}")
        rows = re.findall(r"^(\S+)  .*  ([0-9.]+)%$", answer.stdout, re.MULTILINE)
        return [(board.parse_san(san), float(chance)) for san, chance in rows if float(chance) > 0]


class Judge:
    """An engine that evaluates positions, with a cache in a file."""

    def __init__(self, command, nodes, path):
        self.engine = chess.engine.SimpleEngine.popen_uci(command.split(), timeout=None)
        self.nodes, self.known = nodes, {}
        self.file = open(path, "a+", encoding="utf-8") if path else None
        if self.file:
            self.file.seek(0)
            for line in self.file:
                row = json.loads(line)
                self.known[row["epd"], row["nodes"]] = row["value"]

    def value(self, board):
        """The value in centipawns for the side to move."""
        key = (board.epd(), self.nodes)
        if key not in self.known:
            self.known[key] = self.search(board)
            if self.file:
                row = {"epd": key[0], "nodes": key[1], "value": self.known[key]}
                self.file.write(json.dumps(row) + "\n")
                self.file.flush()
        return self.known[key]

    def search(self, board):
        if board.is_game_over():
            return -MATE if board.is_checkmate() else 0
        # A new game clears the engine's state. The position is sent without game history and move
        # counters.
        alone = chess.Board.from_epd(board.epd())[0]
        limit, score = chess.engine.Limit(nodes=self.nodes), None
        with self.engine.analysis(alone, limit, game=object()) as analysis:
            for info in analysis:
                # An iteration that the limit interrupts may end with a bound, which is not a value.
                if "score" in info and not info.get("lowerbound") and not info.get("upperbound"):
                    score = info["score"]
        if score is None:
            sys.exit(f"the judge gives no value for {board.fen()}: more --nodes are needed")
        return score.relative.score(mate_score=MATE)


def play(book, draw):
    """An opening up to the end of the book."""
    board = chess.Board()
    while len(board.move_stack) < LONGEST:
        chances = book.chances(board)
        if not chances:
            break
        moves, weights = zip(*chances)
        board.push(draw.choices(moves, weights)[0])
    return board


def losses(judge, opening, last):
    """The position before each of the last moves of an opening, the move, and its loss."""
    board, found = chess.Board(), []
    first = max(len(opening.move_stack) - last, 0) if last else 0
    for move in opening.move_stack[:first]:
        board.push(move)
    for move in opening.move_stack[first:]:
        before, place, fen = judge.value(board), board.san(move), board.fen()
        board.push(move)
        found.append((fen, place, before + judge.value(board)))
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("book")
    parser.add_argument("--judge", required=True, help="an engine that speaks UCI")
    parser.add_argument("-n", type=int, default=200, help="openings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", default="prefer")
    parser.add_argument("--nodes", type=int, default=200_000, help="of each search")
    parser.add_argument("--last", type=int, default=2, help="moves before the exit; 0 for all")
    parser.add_argument("--most", type=int, default=60, help="centipawns that a move may lose")
    parser.add_argument("--keep", help="store the judge's values here")
    parser.add_argument("--epd", help="write the moves that lose more here")
    options = parser.parse_args()
    book = Book(options.program, options.book, options.policy)
    judge = Judge(options.judge, options.nodes, options.keep)
    draw = random.Random(options.seed)
    openings = [play(book, draw) for _ in range(options.n)]
    plies = [len(opening.move_stack) for opening in openings]
    worst, exits, bad = [], [], {}
    for opening in openings:
        found = losses(judge, opening, options.last)
        fen, san, loss = max(found, key=lambda row: row[2])
        worst.append(loss)
        exit_value = judge.value(opening) * (1 if opening.turn == chess.WHITE else -1)
        exits.append(exit_value)
        for row in found:
            if row[2] > options.most:
                bad[row[:2]] = row[2]
        if loss > options.most:
            line = chess.Board().variation_san(opening.move_stack)
            print(f"{san} loses {loss} ({exit_value:+} at the exit for White): {line}", flush=True)
    judge.engine.quit()
    if options.epd:
        with open(options.epd, "w", encoding="utf-8") as out:
            for (fen, san), loss in sorted(bad.items()):
                out.write(f'{" ".join(fen.split()[:4])} am {san}; c0 "loses {loss}";\n')
    above = sum(loss > options.most for loss in worst)
    print(
        f"{options.n} exits, {sum(plies) / len(plies):.1f} plies on average;"
        f" {above} lose more than {options.most} cp, the worst {max(worst)};"
        f" exits from {min(exits):+} to {max(exits):+} for White"
    )
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
