"""Code shared by the scripts that check repertoires and reports with python-chess."""

import json
import subprocess

import chess

# The maximum difference between computed numbers that may be due to rounding.
EPSILON = 1e-9
# The moves of random games. They can be played in almost any order, so games often transpose.
MOVES = {
    chess.WHITE: "d4 c4 Nf3 Nc3 g3 Bg2 e3 O-O b3 e4 Bd3 a3".split(),
    chess.BLACK: "d5 e6 Nf6 c6 Nbd7 Be7 g6 Bg7 O-O b6 d6 c5".split(),
}

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def key(board):
    """Identifies a position: squares, turn, castling rights and a possible en passant capture."""
    return board.epd(en_passant="legal")


def after(board, move):
    """Returns the position after a move, without its history."""
    board = board.copy(stack=False)
    board.push(move)
    return board


def run(program, *arguments, expected=(0,)):
    """Runs the program and returns its output. Ends the script if the exit status is not the expected
    one."""
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    if done.returncode not in expected:
        raise SystemExit(f"{arguments}: exit status {done.returncode}: {done.stderr}")
    return done


def dump(program, book):
    """Yields the key of each position in a book, and its row of `book dump`."""
    for line in run(program, "book", "dump", book, "--format", "json").stdout.splitlines():
        row = json.loads(line)
        yield key(chess.Board(row["fen"])), row


def permuting_moves(board, most=None):
    """Returns the legal moves among those in MOVES, or among the first `most` of them."""
    found = []
    for san in MOVES[board.turn][:most]:
        try:
            found.append(board.parse_san(san))
        except ValueError:
            continue
    return found


def random_move(board, lots, most=None):
    """Returns one of the legal moves in MOVES, or any legal move if there is none."""
    return lots.choice(permuting_moves(board, most) or list(board.legal_moves) or [None])


def random_game(lots, plies):
    """Returns the moves of a random game. Some of the moves in MOVES are chosen far more often than
    others."""
    board = chess.Board()
    for _ in range(plies):
        moves = permuting_moves(board)
        if not moves:
            break
        board.push(moves[min(int(lots.expovariate(0.7)), len(moves) - 1)])
    return board.move_stack
