#!/usr/bin/env python3
"""Screens many search changes in the same games, to find those that deserve a separate test.

Usage: benches/screen.py PROGRAM FACTORS.txt [--games N] [--nodes N] [--jobs N] [--seed N] [--csv FILE]

PROGRAM is a build with the constants of the search as options (`cargo build --release --features
tune`). Each line of FACTORS.txt is `NAME OFF ON`: an option and two values of it, as
`lmr_cutoffs 0 1024`; combined options are joined by `+`.

In each small match of eight games every factor is set at random for one side, and the other side has the
opposite settings. Each game therefore gives information about every factor, and each estimate is as good as
if all games had been played for it alone (R. A. Fisher, "The Design of Experiments", 1935, on factorial
designs). All effects are estimated together by least squares, so that the effect of one factor does not add
noise to the others. Interactions are not estimated. Confirm the chosen changes by a match in which all of
them play against the previous program.

When interrupted or finished, it prints for each factor how many Elo ON is better than OFF, with 95%
intervals. --csv FILE stores the matches. Matches that are already in FILE are included.
"""
import argparse
import csv
import math
import os
import random
import re
import subprocess
import sys
import threading

GAMES = 8
# Elo per point of expected score, for sides of similar strength.
ELO = 400 / math.log(10) * 4
SCORE = re.compile(r"Score of .*: (\d+) - (\d+) - (\d+) \[")


def play(arguments, factors, drawn, seed):
    """The score of the side with the drawn settings, from 0 to 1, or an error message."""
    command = [arguments.program, "autoplay"]
    for side in "12":
        command += [f"-{side}", f"{arguments.program} -x --no-book --memory 16"]
    command += ["--nodes", str(arguments.nodes), "-n", str(GAMES), "-j", "1"]
    command += ["--openings", "embedded", "--opening-plies", "12", "--seed", str(seed)]
    command += ["--resign", "4,700", "--draw", "60,6,8"]
    for (name, off, on), is_on in zip(factors, drawn):
        for option, low, high in zip(*(part.split("+") for part in (name, off, on))):
            values = (high, low) if is_on else (low, high)
            for side, value in zip("12", values):
                command += [f"--option{side}", f"{option}={value}"]
    played = subprocess.run(command, capture_output=True, text=True, check=False)
    found = SCORE.findall(played.stdout)
    if not found:
        return played.stderr.strip() or played.stdout[-300:]
    won, lost, draws = map(int, found[-1])
    return (won + draws / 2) / (won + lost + draws)


def inverse(matrix):
    """The inverse of a square matrix, or none if it is singular (Gauss-Jordan)."""
    size = len(matrix)
    rows = [list(row) + [float(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda i: abs(rows[i][place]))
        if abs(rows[pivot][place]) < 1e-9:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][place] for value in rows[place]]
        for i in range(size):
            if i != place:
                factor = rows[i][place]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[place])]
    return [row[size:] for row in rows]


def effects(rows):
    """The increase in the score when each factor is on, with its standard error. It is computed by least
    squares over all factors together, so that the effect of one factor does not add noise to the others."""
    points = [[1.0] + [2 * value - 1 for value in row[:-1]] for row in rows]
    scores = [row[-1] for row in rows]
    size = len(points[0])
    products = inverse([[sum(p[i] * p[j] for p in points) for j in range(size)] for i in range(size)])
    if products is None or len(rows) <= size:
        return None
    sums = [sum(p[i] * score for p, score in zip(points, scores)) for i in range(size)]
    found = [sum(x * y for x, y in zip(row, sums)) for row in products]
    rest = [score - sum(x * y for x, y in zip(p, found)) for p, score in zip(points, scores)]
    variance = sum(error * error for error in rest) / (len(rows) - size)
    return [(found[i], math.sqrt(variance * products[i][i])) for i in range(1, size)]


def tell(factors, rows):
    """Prints the estimate of each factor, the best first."""
    print(f"{len(rows) * GAMES} games")
    found = effects(rows) if rows else None
    if found is None:
        print("too few games to tell anything: more matches than factors are needed")
        return
    # The other side has the opposite settings, so the effects compare on with off.
    results = [
        (effect * ELO, 1.96 * error * ELO, f"{name}: {off} to {on}")
        for (effect, error), (name, off, on) in zip(found, factors)
    ]
    for elo, error, words in sorted(results, reverse=True):
        print(f"{elo:+7.1f} ± {error:4.1f}  {words}")


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("program")
    parser.add_argument("factors")
    numbers = {"games": 2000, "nodes": 6000, "jobs": os.cpu_count() or 1, "seed": 1}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    with open(arguments.factors, encoding="utf-8") as lines:
        factors = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    wrong = [factor for factor in factors if len(factor) != 3]
    if wrong:
        sys.exit(f"{arguments.factors}: expected NAME OFF ON, not {' '.join(wrong[0])}")
    rows = []
    if arguments.csv and os.path.exists(arguments.csv):
        with open(arguments.csv, encoding="utf-8") as kept:
            rows = [[float(field) for field in row] for row in csv.reader(kept)]
        if any(len(row) != len(factors) + 1 for row in rows):
            sys.exit(f"{arguments.csv} is of other factors")
    lock, failures = threading.Lock(), []

    def work():
        while True:
            with lock:
                number = next(numbers)
                if number * GAMES >= arguments.games or len(failures) > 3:
                    return
            lot = random.Random(f"{arguments.seed} {number}")
            drawn = [lot.random() < 0.5 for _ in factors]
            score = play(arguments, factors, drawn, arguments.seed * 1_000_000 + number)
            with lock:
                if isinstance(score, str):
                    failures.append(score)
                    continue
                rows.append([*map(int, drawn), score])
                if arguments.csv:
                    with open(arguments.csv, "a", encoding="utf-8") as kept:
                        csv.writer(kept).writerow(rows[-1])

    numbers = iter(range(len(rows), sys.maxsize))
    threads = [threading.Thread(target=work, daemon=True) for _ in range(arguments.jobs)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        pass
    tell(factors, rows)
    if failures:
        sys.exit(f"{len(failures)} matches failed, the first of them so:\n{failures[0]}")


if __name__ == "__main__":
    main()
