#!/usr/bin/env python3
"""Compares the processor time of two engines for the same search.

Usage: benches/side_by_side.py 'COMMAND A' 'COMMAND B' POSITIONS [--nodes 2000000] [--rounds 6] [-n 4]

The engines search the same positions at the same time, one on each of two cores, and again with the cores
swapped, so that other load affects both engines equally. The script prints the time of B's searches divided
by the time of A's, as a mean with its 95% interval and as the median and quartiles. Starting, reading books
and clearing tables do not count. Both engines use UCI and one thread. The last number counts searches in
which the engines differ in the move or the number of nodes. It must be 0 for one engine with and without a
book in positions outside the book.

The cost of a book for the search outside it:

    benches/side_by_side.py 'tabia --uci -b BOOK --book-search off' 'tabia --uci -b BOOK' POSITIONS

Each line of POSITIONS is a FEN or EPD, as printed by `pgn-extract -Wepd GAMES.pgn`. Linux only.
"""
import argparse
import glob
import math
import os
import statistics
import sys

import shared
from shared import read_lines


class Engine(shared.Engine):
    """An engine whose processor time is measured."""

    def threads(self):
        return glob.glob(f"/proc/{self.process.pid}/task/*")

    def seconds(self):
        """Total processor time of all threads."""
        spent = 0
        for thread in self.threads():
            with open(f"{thread}/schedstat") as stat:
                spent += int(stat.read().split()[0])
        return spent / 1e9

    def prepare(self, core):
        """Clears the engine's state and binds it to a core."""
        self.forget()
        for thread in self.threads():
            os.sched_setaffinity(int(os.path.basename(thread)), {core})
        return self.seconds()

    def found(self):
        """Searches a position; returns the number of nodes and the move found."""
        *news, answer = map(str.split, self.wait_for("bestmove"))
        last = next(words for words in reversed(news) if "nodes" in words)
        return last[last.index("nodes") + 1], answer[1]


def position_of(line):
    """The FEN at the beginning of a line of FEN or EPD."""
    fields = line.split()
    numbers = [field for field in fields[4:6] if field.isdecimal()]
    return " ".join(fields[:4] + (numbers if len(numbers) == 2 else ["0", "1"]))


def search(engines, cores, position, nodes):
    """The logarithm of the second engine's time divided by the first engine's time, and whether both found
    the same move with the same nodes."""
    before = [engine.prepare(core) for engine, core in zip(engines, cores)]
    for engine in engines:
        engine.say(f"position fen {position}\ngo nodes {nodes}")
    found = [engine.found() for engine in engines]
    first, second = (engine.seconds() - start for engine, start in zip(engines, before))
    return math.log(second / first), found[0] == found[1]


def measure(args, positions, cores):
    """The logarithms of the ratios, and the number of searches that differ."""
    engines = [Engine(command) for command in args.commands]
    ratios, differ = [], 0
    for _ in range(args.rounds):
        for position in positions:
            # The mean of both assignments cancels differences between the cores.
            both = [search(engines, order, position, args.nodes) for order in (cores, cores[::-1])]
            ratios.append(statistics.mean(ratio for ratio, _ in both))
            differ += sum(not is_same for _, is_same in both)
    for engine in engines:
        engine.quit()
    return ratios, differ


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commands", nargs=2, metavar="COMMAND")
    parser.add_argument("positions", metavar="POSITIONS")
    parser.add_argument("--nodes", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("-n", type=int, default=4, help="positions to take")
    args = parser.parse_args()
    positions = [position_of(line) for line in read_lines(args.positions)][: args.n]
    cores = sorted(os.sched_getaffinity(0))[:2]
    if not positions or args.rounds < 1 or len(cores) < 2:
        sys.exit("there must be a position, a round and two cores")
    try:
        ratios, differ = measure(args, positions, cores)
    except EOFError as error:
        sys.exit(f"{error}")
    summary = f"B takes {math.exp(statistics.mean(ratios)):.4f} times the processor time of A"
    if len(ratios) > 1:
        error = 1.96 * statistics.stdev(ratios) / len(ratios) ** 0.5
        quartiles = ", ".join(f"{math.exp(cut):.4f}" for cut in statistics.quantiles(ratios))
        summary += f" ± {error:.4f} (quartiles and median {quartiles})"
    print(f"{summary}; of {2 * len(ratios)} searches {differ} differ")


if __name__ == "__main__":
    main()
