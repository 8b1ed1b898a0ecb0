#!/usr/bin/env python3
"""Measures the error of static evaluations and small searches against the scores of a strong engine.

Usage: benches/network_error.py PROGRAM FILE.epd [--network FILE]... [--nodes N]... [--scale 200]

Each line of FILE.epd has a position with its score `ce`, in centipawns for the side to move. For each
network (default: the built-in one) the script prints the mean squared difference between the expected
results 1/(1+exp(-e/s)) and 1/(1+exp(-ce/SCALE)) by the number of pieces, where `e` is the network's
evaluation. `s` is the scale in centipawns that minimises the error on all positions. With --nodes, it does
the same for the scores of searches of N nodes, each with an empty table, by the built-in network. Searches
that find a mate count as a score of 30,000.
"""
import argparse
import math
import re
import subprocess
import sys

from shared import Engine, read_lines

# Ranges of the number of pieces, including pawns and kings.
CLASSES = [(2, 5), (6, 9), (10, 13), (14, 17), (18, 21), (22, 25), (26, 29), (30, 32), (2, 32)]
# Positions per run of the program.
BATCH = 500
MATE_SCORE = 30_000
SCORE = re.compile(r"^evaluation .*?(-?\d+) centipawns", re.MULTILINE)
INFO = re.compile(r"^info .*\bscore (cp|mate) (-?\d+)")
EPD = re.compile(r"((?:\S+ ){3}\S+) .*?\bce (-?\d+);(?:.*\bhmvc (\d+);)?")


def read(path):
    """The positions as FEN, and their scores."""
    found = [EPD.match(line) for line in read_lines(path)]
    if not found or None in found:
        sys.exit(f"{path}: line {found.index(None) + 1 if found else 1} has no score `ce`")
    return [(f"{epd} {quiet or 0} 1", int(score)) for epd, score, quiet in (match.groups() for match in found)]


def evaluate(program, network, fens):
    command = [program, "eval", *(["--network", network] if network else [])]
    scores = []
    for start in range(0, len(fens), BATCH):
        batch = fens[start : start + BATCH]
        output = subprocess.run(command + batch, stdout=subprocess.PIPE, text=True, check=True).stdout
        found = [int(score) for score in SCORE.findall(output)]
        if len(found) != len(batch):
            sys.exit(f"{program}: {len(found)} scores of {len(batch)} positions from {batch[0]} on")
        scores += found
    return scores


def search(program, nodes, fens):
    engine = Engine(f"{program} --uci --no-book --memory 1")
    scores = []
    for fen in fens:
        engine.forget()
        engine.say(f"position fen {fen}\ngo nodes {nodes}")
        kind, score = next(filter(None, map(INFO.match, reversed(engine.wait_for("bestmove"))))).groups()
        scores.append(int(score) if kind == "cp" else math.copysign(MATE_SCORE, int(score)))
    engine.quit()
    return scores


def expected(score, scale):
    return 1 / (1 + math.exp(-max(-50 * scale, min(50 * scale, score)) / scale))


def mean_error(scores, targets, scale):
    return sum((expected(score, scale) - target) ** 2 for score, target in zip(scores, targets)) / len(targets)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--network", action="append", metavar="FILE")
    parser.add_argument("--nodes", action="append", type=int, default=[], metavar="N", help="also search N nodes")
    parser.add_argument("--scale", type=int, default=200, help="centipawns of the scores `ce` for 73%%")
    args = parser.parse_args()
    fens, judged = zip(*read(args.file))
    targets = [expected(score, args.scale) for score in judged]
    pieces = [sum(map(str.isalpha, fen.split()[0])) for fen in fens]
    networks = args.network or [None]
    scored = [
        (network or "built-in network", evaluate(args.program, network, list(fens))) for network in networks
    ] + [(f"{nodes} nodes", search(args.program, nodes, fens)) for nodes in args.nodes]
    columns = []
    for name, scores in scored:
        scale = min(range(50, 501, 5), key=lambda scale: mean_error(scores, targets, scale))
        columns.append([(expected(score, scale) - target) ** 2 for score, target in zip(scores, targets)])
        print(f"{name}: scale {scale}")
    print("pieces positions" + "".join(f" {'error ' + str(number + 1):>9}" for number in range(len(columns))))
    for fewest, most in CLASSES:
        places = [place for place, number in enumerate(pieces) if fewest <= number <= most]
        errors = [sum(column[place] for place in places) / max(len(places), 1) for column in columns]
        print(f"{fewest:>2}-{most:<3} {len(places):>9}" + "".join(f" {error:>9.5f}" for error in errors))


if __name__ == "__main__":
    main()
