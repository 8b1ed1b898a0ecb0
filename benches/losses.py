#!/usr/bin/env python3
"""Measures the loss of a search's moves: compares searches of any depth without games.

Usage: benches/losses.py pick GAMES.epd -o POSITIONS --judge STOCKFISH [-n 1500] [--seed 1]
       benches/losses.py compare POSITIONS DIR --judge STOCKFISH --nodes N 'COMMAND'...
       benches/losses.py screen POSITIONS DIR PROGRAM FACTORS.txt --judge STOCKFISH [--runs 12]

A strong engine (the judge) evaluates each move that was found in a position. Differences are printed in
thousandths of a point lost per move, as a mean with its 95% interval. A game of deep searches gives only
one result, whereas here each search gives information. Two searches that find the same move add no noise.
All engines use UCI, and every search begins with a cleared state.

`pick` samples balanced positions (at most 250 centipawns for either side, according to the judge) from
lines of FEN or EPD, such as `pgn-extract -Wepd GAMES.pgn` prints. `compare` runs searches of all engines,
limited by --nodes or --movetime, and compares each engine with the first one. `screen` estimates many
options of one program. Each line of FACTORS.txt is `NAME OFF ON` as for screen.py, where OFF is the base
value. In each search a random fifth of the options is ON. Lines with the same NAME are never ON together.
The effect of each option is estimated by least squares within the positions.

Moves and evaluations are stored in DIR, so that the same command resumes where it was interrupted.
"""
import argparse
import hashlib
import math
import os
import queue
import random
import sys
import threading

import shared
from screen import inverse
from shared import read_lines

# The judge's centipawns that increase the logit of the expected score by one. Set by hand:
# Stockfish of 2022 wins half of its games from 100 centipawns.
LOGIT = 140
# Positions with a larger advantage in centipawns are skipped, because any move wins or loses them.
# Set by hand.
OPEN = 250
# Nodes with which the judge decides whether a position is balanced. Set by hand.
PICK_NODES = 20_000
# Number of pieces in sampled positions, which excludes openings in books and endgames in tables.
# Set by hand.
MEN = range(8, 31)
# Probability that a factor is on. Set by hand: 1/2 would give the most information, but would turn on too
# many factors at a time.
SHARE = 0.2
MATE = 30_000


class Engine(shared.Engine):
    """An engine that finds moves and evaluates them."""

    def __init__(self, command):
        super().__init__(command)
        self.set({"Hash": 16, "Threads": 1})

    def search(self, fen, limit):
        """The best move and the score in centipawns, from a cleared state."""
        self.forget()
        self.say(f"position fen {fen}\ngo {limit}")
        lines, score = self.wait_for("bestmove"), 0
        for words in map(str.split, lines):
            if "score" in words and not words[0] == "bestmove":
                kind, value = words[words.index("score") + 1 :][:2]
                mate = math.copysign(MATE, int(value)) - int(value)
                score = int(value) if kind == "cp" else int(mate)
        return lines[-1].split()[1], score


def side_by_side(tasks, work, jobs):
    """Runs all tasks, `jobs` at a time."""
    todo, failures = queue.Queue(), []
    for task in tasks:
        todo.put(task)

    def serve():
        while not failures:
            try:
                work(todo.get_nowait())
            except queue.Empty:
                return
            except (EOFError, OSError, SystemExit) as error:
                failures.append(error)

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(f"{failures[0]}")


def pick(arguments):
    fields = [line.split()[:4] for line in read_lines(arguments.games)]
    fens = sorted({" ".join(four) for four in fields if len(four) == 4})
    random.Random(arguments.seed).shuffle(fens)
    judge, found = Engine(arguments.judge), []
    for fen in fens:
        if len(found) == arguments.n:
            break
        if sum(map(str.isalpha, fen.split()[0])) in MEN:
            fen += " 0 30"
            move, score = judge.search(fen, f"nodes {PICK_NODES}")
            if move != "(none)" and abs(score) <= OPEN:
                found.append(fen)
    judge.quit()
    with open(arguments.output, "w", encoding="utf-8") as output:
        output.writelines(f"{fen}\n" for fen in found)
    print(f"{len(found)} positions")


def kept_in(arguments, kind, *facts):
    """The cache file for results with these settings."""
    name = hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:16]
    return os.path.join(arguments.dir, f"{name}.{kind}")


def find_moves(fens, path, command, limit, options=lambda _: {}):
    """The moves that an engine finds. Missing moves are searched first and added to the cache file."""
    done = len(read_lines(path)) if os.path.exists(path) else 0
    if done < len(fens):
        engine = Engine(command)
        with open(path, "a", encoding="utf-8") as kept:
            for place in range(done, len(fens)):
                engine.set(options(place))
                kept.write(engine.search(fens[place], limit)[0] + "\n")
                kept.flush()
        engine.quit()


def judge_moves(arguments, fens, runs):
    """The expected score of each move found: a list with a dictionary for each position, from moves to
    scores between 0 and 1. Positions in which only one move was found are skipped."""
    path = kept_in(arguments, "judged", arguments.judge, arguments.judge_nodes)
    known = {}
    if os.path.exists(path):
        rows = (line.split("\t") for line in read_lines(path))
        known = {(fen, move): int(score) for fen, move, score in rows}
    moves = [sorted({run[place] for run in runs}) for place in range(len(fens))]
    asked = [(fen, move) for fen, found in zip(fens, moves) if len(found) > 1 for move in found]
    missing = [question for question in asked if question not in known]
    lock, judges = threading.Lock(), threading.local()

    def ask(question):
        if not hasattr(judges, "engine"):
            judges.engine = Engine(arguments.judge)
        fen, move = question
        limit = f"nodes {arguments.judge_nodes} searchmoves {move}"
        score = judges.engine.search(fen, limit)[1]
        with lock, open(path, "a", encoding="utf-8") as kept:
            kept.write(f"{fen}\t{move}\t{score}\n")
            known[question] = score

    side_by_side(missing, ask, arguments.jobs)
    return [
        {move: expected(known.get((fen, move), 0)) for move in found}
        for fen, found in zip(fens, moves)
    ]


def expected(score):
    return 1 / (1 + math.exp(-max(-MATE / 10, min(MATE / 10, score)) / LOGIT))


def compare(arguments):
    fens, limit = read_lines(arguments.positions), search_limit(arguments)

    def path(command):
        return kept_in(arguments, "moves", command, limit, *fens)

    def work(command):
        find_moves(fens, path(command), command, limit)

    side_by_side(arguments.commands, work, arguments.jobs)
    runs = [read_lines(path(command)) for command in arguments.commands]
    worth = judge_moves(arguments, fens, runs)
    for command, run in zip(arguments.commands, runs):
        gains = [at[mine] - at[first] for at, mine, first in zip(worth, run, runs[0])]
        mean = sum(gains) / len(gains)
        error = math.sqrt(sum((gain - mean) ** 2 for gain in gains)) / len(gains)
        same = sum(mine == first for mine, first in zip(run, runs[0])) / len(run)
        print(f"{1000 * mean:+7.2f} ± {1960 * error:4.2f}  {same:4.0%} the same  {command}")


def search_limit(arguments):
    return f"movetime {arguments.movetime}" if arguments.movetime else f"nodes {arguments.nodes}"


def read_factors(path):
    """Factors by name, with the base value and the other values. Combined options are joined by `+`."""
    factors = {}
    for line in read_lines(path):
        if not line.startswith("#"):
            if len(line.split()) != 3:
                sys.exit(f"{path}: expected NAME OFF ON, not {line}")
            name, off, on = line.split()
            factors.setdefault(name, [off]).append(on)
    return factors


def screen(arguments):
    fens, factors = read_lines(arguments.positions), read_factors(arguments.factors)
    limit = search_limit(arguments)
    columns = {pair: i for i, pair in enumerate((n, v) for n, vs in factors.items() for v in vs[1:])}

    def draw(run, place):
        """The value of each factor in one search."""
        lot = random.Random(f"{arguments.seed} {run} {place}")
        others = {name: 1 - (1 - SHARE) ** len(values[1:]) for name, values in factors.items()}
        return {
            name: lot.choice(values[1:]) if lot.random() < others[name] else values[0]
            for name, values in factors.items()
        }

    def options(run, place):
        pairs = ((n.split("+"), v.split("+")) for n, v in draw(run, place).items())
        return {name: value for names, values in pairs for name, value in zip(names, values)}

    def path(run):
        drawn_from = (factors, arguments.seed, run)
        return kept_in(arguments, "moves", arguments.program, limit, drawn_from, *fens)

    def work(run):
        find_moves(fens, path(run), arguments.program, limit, lambda i: options(run, i))

    side_by_side(range(arguments.runs), work, arguments.jobs)
    runs = [read_lines(path(run)) for run in range(arguments.runs)]
    worth = judge_moves(arguments, fens, runs)
    sums = Sums(len(columns))
    for place, at in enumerate(worth):
        drawn = [draw(run, place) for run in range(arguments.runs)]
        points = [[columns[pair] for pair in one.items() if pair in columns] for one in drawn]
        sums.add(points, [at[run[place]] for run in runs])
    tell(sums, factors, columns)


class Sums:
    """Sums of products for least squares within groups. A point consists of the columns that are 1, and the
    result."""

    def __init__(self, size):
        self.size, self.count, self.squares = size, 0, 0.0
        self.products = [[0.0] * size for _ in range(size)]
        self.found = [0.0] * size

    def add(self, points, values):
        """Adds a group. Anything that all its members have in common is eliminated."""
        share, mean = [0.0] * self.size, sum(values) / len(values)
        for point, value in zip(points, values):
            for i in point:
                share[i] += 1 / len(points)
                self.found[i] += value - mean
                for j in point:
                    self.products[i][j] += 1
            self.squares += (value - mean) ** 2
        present = [i for i in range(self.size) if share[i]]
        for i in present:
            for j in present:
                self.products[i][j] -= len(points) * share[i] * share[j]
        self.count += len(points) - 1

    def effects(self):
        """The effect of each column and its standard error; none if undetermined."""
        inverted = inverse(self.products)
        if inverted is None or self.count <= self.size:
            return None
        effects = [sum(x * y for x, y in zip(row, self.found)) for row in inverted]
        rest = self.squares - sum(x * y for x, y in zip(effects, self.found))
        variance = max(rest, 0) / (self.count - self.size)
        return [(effect, math.sqrt(variance * inverted[i][i])) for i, effect in enumerate(effects)]


def tell(sums, factors, columns):
    effects = sums.effects()
    if effects is None:
        sys.exit("too few searches to tell anything: more runs or positions are needed")
    results = [(*effects[place], *pair) for pair, place in columns.items()]
    for effect, error, name, value in sorted(results, reverse=True):
        words = f"{name}: {factors[name][0]} to {value}"
        print(f"{1000 * effect:+7.2f} ± {1960 * error:4.2f}  {words}")


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(required=True)
    picking, comparing, screening = map(commands.add_parser, ("pick", "compare", "screen"))
    picking.add_argument("games")
    picking.add_argument("-o", dest="output", required=True)
    picking.add_argument("-n", type=int, default=1500)
    for searching in (comparing, screening):
        searching.add_argument("positions")
        searching.add_argument("dir")
        for name, default in (("nodes", 200_000), ("judge-nodes", 120_000), ("movetime", None)):
            searching.add_argument(f"--{name}", type=int, default=default)
        searching.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    comparing.add_argument("commands", nargs="+")
    screening.add_argument("program")
    screening.add_argument("factors")
    screening.add_argument("--runs", type=int, default=12)
    for command, act in ((picking, pick), (comparing, compare), (screening, screen)):
        command.add_argument("--judge", required=True)
        command.add_argument("--seed", type=int, default=1)
        command.set_defaults(act=act)
    arguments = parser.parse_args()
    if hasattr(arguments, "dir"):
        os.makedirs(arguments.dir, exist_ok=True)
    arguments.act(arguments)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted: run the same command to resume")
