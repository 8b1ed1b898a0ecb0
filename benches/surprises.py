#!/usr/bin/env python3
"""Measure whether rare moves with good values score better than usual book moves.

Usage: benches/surprises.py TABIA ANALYSED.tbk GAMES.pgn...

ANALYSED.tbk is a book of the same games with engine values, made by `tabia book analyse`. The script
divides the games at random into 20 groups, without duplicates. The games in half of the groups choose a
move in each position, and the other half shows how it scored there, by any move order. Moves are candidates
if they lose at most 30 centipawns and if 3 or more games of the choosing half reached the position after
them. There are four ways to choose:

- popular: the move played most often;
- score: the move with the highest lower bound of its score (90%);
- replies: among the rare moves, the one after which the usual replies lose most according to the values;
- estimate: among the rare moves, the one with the most expected points, in which the values after the usual
  replies, weighted by frequency, count as much as 100 games in addition to the results of the position.

A move is rare if fewer than 1% of all games reached the position after it and, in the second table, if it
was also played in less than a tenth of the position's games. The gain of a choice is its score minus the
mean score of the position in the same half, in points per 100 games. Errors are 95% confidence intervals by
a bootstrap over the groups. Needs python-chess.
"""

import json
import math
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import chess

GROUPS = 20
PARTITIONS = 10
BOOTSTRAPS = 50
MAX_PLY = 26
MAX_LOSS = 30
# The minimum number of games of a position in the choosing half, and of a move in each half.
POSITION_GAMES, MOVE_GAMES = 20, 3
RARE, RARE_HERE = 0.01, 0.1
VALUE_GAMES = 100
# The share of the replies that must have values.
KNOWN_REPLIES = 0.5
# The largest difference of ratings in the second measurement.
NEAR = 100
Z = 1.2816
CHOICES = ("popular", "score", "replies", "estimate")


def read_texts(paths):
    for path in paths:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        yield from re.split(r"\n(?=\[Event )", text.replace("\r\n", "\n"))


def tag(text, name):
    found = re.search(rf'\[{name} "([^"]*)"', text)
    return found.group(1) if found else ""


def divide(paths, near):
    """Returns the texts of the groups, each game once."""
    groups, seen, lots = [[] for _ in range(GROUPS)], set(), random.Random(1)
    for text in read_texts(paths):
        moves = re.sub(r"\[[^\n]*\]\n|\{[^}]*\}|\d+\.+|\s", "", text)
        surname = tag(text, "White").split(",")[0].lower()
        name = (surname, tag(text, "Date")[:4], moves[:150])
        if not moves or name in seen:
            continue
        seen.add(name)
        group = lots.randrange(GROUPS)
        ratings = [tag(text, f"{side}Elo") for side in ("White", "Black")]
        is_near = all(one.isdigit() for one in ratings) and abs(int(ratings[0]) - int(ratings[1])) <= NEAR
        if is_near or not near:
            groups[group].append(text)
    return ["\n\n".join(group) + "\n" for group in groups]


def dump(tabia, book, min_games=1):
    command = [tabia, "book", "dump", book, "--format", "json", "--min-games", str(min_games)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            row = json.loads(line)
            yield " ".join(row["fen"].split()[:4]), row


def total(counts):
    return counts["white"] + counts["draws"] + counts["black"]


def expectation(value):
    if "mate" in value:
        return 1.0 if value["mate"] > 0 else 0.0
    return 1 / (1 + 10 ** (-value["cp"] / 400))


class Position:
    """A position with its good moves. For each move it has the position after it, its value, and the values
    after the replies, all for the side to move."""

    def __init__(self, name, row, rows):
        board = chess.Board(row["fen"])
        self.name, self.white, self.moves = name, board.turn == chess.WHITE, {}
        best = row["value"]["score"].get("cp")
        for move in row["moves"]:
            value = move.get("value")
            if best is None or not value or "cp" not in value or best - value["cp"] > MAX_LOSS:
                continue
            board.push_uci(move["uci"])
            child = " ".join(board.fen(en_passant="legal").split()[:4])
            board.pop()
            replies = {
                reply["uci"]: 1 - expectation(reply["value"])
                for reply in rows.get(child, {"moves": []})["moves"] if reply.get("value")
            }
            self.moves[move["uci"]] = child, expectation(value), replies


class Games:
    """The results of the positions by group, and the numbers of games with their moves."""

    def __init__(self, tabia, texts, needed):
        self.reached = defaultdict(lambda: [(0, 0.0, 0.0)] * GROUPS)
        self.played = defaultdict(lambda: defaultdict(lambda: [0] * GROUPS))
        self.totals = [0] * GROUPS
        with tempfile.TemporaryDirectory() as folder:
            games, book = Path(folder) / "games.pgn", str(Path(folder) / "games.tbk")
            for group, text in enumerate(texts):
                games.write_text(text)
                build = [tabia, "book", "build", "-q", "--force", "--max-ply", str(MAX_PLY), games]
                subprocess.run([*build, "-o", book], check=True)
                for name, row in dump(tabia, book):
                    if row["ply"] == 0:
                        self.totals[group] = total(row["reached"])
                    if name not in needed:
                        continue
                    wins, draws, losses = (row["reached"][one] for one in ("white", "draws", "black"))
                    number = wins + draws + losses
                    self.reached[name][group] = number, wins + draws / 2, wins + draws / 4
                    for move in row["moves"]:
                        self.played[name][move["uci"]][group] += total(move["played"])

    def score(self, name, groups, white):
        """The number of games, the mean points of a side, and their mean square."""
        rows = self.reached[name]
        number, points, squares = (sum(rows[group][part] for group in groups) for part in range(3))
        if not number:
            return 0, 0.5, 0.0
        mean = points / number
        variance = squares / number - mean * mean
        return number, mean if white else 1 - mean, variance

    def moves(self, name, groups):
        return {
            move: sum(counts[group] for group in groups) for move, counts in self.played[name].items()
        }


def low_bound(number, mean, variance):
    """The lower bound of the score. As in the program, one win and one loss are added."""
    games = number + 2
    middle = (number * mean + 1) / games
    square = (number * (variance + mean * mean) + 1) / games
    return middle - Z * math.sqrt(max(square - middle * middle, 0) / games)


def choose(position, games, groups, share_here):
    """Returns the position after the chosen move of each kind; `None` if there is no rare move."""
    everything = sum(games.totals[group] for group in groups)
    played = games.moves(position.name, groups)
    here = sum(played.values())
    found = []
    for move, (child, value, replies) in position.moves.items():
        number, mean, variance = games.score(child, groups, position.white)
        if number < MOVE_GAMES:
            continue
        answers = games.moves(child, groups)
        known = sum(count for reply, count in answers.items() if reply in replies)
        expected = value
        if known and known >= KNOWN_REPLIES * sum(answers.values()):
            weighted = sum(count * replies[reply] for reply, count in answers.items() if reply in replies)
            expected = weighted / known
        estimate = (VALUE_GAMES * expected + number * mean) / (VALUE_GAMES + number)
        share = played.get(move, 0) / here
        is_rare = number < RARE * everything and share < share_here
        low = low_bound(number, mean, variance)
        found.append((child, played.get(move, 0), low, expected - value, estimate, is_rare))
    if len(found) < 2:
        return None
    most = max(found, key=lambda one: one[1])
    rare = [one for one in found if one[5] and one is not most]
    if not rare:
        return None
    best = max(found, key=lambda one: one[2])
    replies, estimate = (max(rare, key=lambda one: one[part]) for part in (3, 4))
    return most[0], best[0], replies[0], estimate[0]


def gains(rows, games, groups):
    """The mean gain of each choice compared with the position, and of `estimate` compared with `score`."""
    sums, number = [0.0] * len(CHOICES), 0
    for position, chosen in rows:
        here = games.score(position.name, groups, position.white)
        scores = [games.score(child, groups, position.white) for child in chosen]
        if here[0] < MOVE_GAMES or min(score[0] for score in scores) < MOVE_GAMES:
            continue
        number += 1
        for index, score in enumerate(scores):
            sums[index] += 100 * (score[1] - here[1])
    means = [one / number for one in sums]
    return number, [*means, means[3] - means[1]]


def measure(positions, games, share_here):
    lots, results = random.Random(2), []
    for _ in range(PARTITIONS):
        order = lots.sample(range(GROUPS), GROUPS)
        choosing, other = order[: GROUPS // 2], order[GROUPS // 2:]
        rows = []
        for position in positions:
            number = games.score(position.name, choosing, True)[0]
            chosen = choose(position, games, choosing, share_here) if number >= POSITION_GAMES else None
            if chosen:
                rows.append((position, chosen))
        number, means = gains(rows, games, other)
        samples = [gains(rows, games, lots.choices(other, k=len(other)))[1] for _ in range(BOOTSTRAPS)]
        errors = [statistics.stdev(column) for column in zip(*samples)]
        results.append((number, means, errors))
    mean = lambda values: sum(values) / len(values)  # noqa: E731
    print(f"  {mean([one[0] for one in results]):.0f} positions in each of {PARTITIONS} partitions")
    for index, name in enumerate((*CHOICES, "estimate less score")):
        gain, error = (mean([one[part][index] for one in results]) for part in (1, 2))
        print(f"  {name}: {gain:+.2f} ± {1.96 * error:.2f}")


def main():
    if len(sys.argv) < 4 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    tabia, analysed, *paths = sys.argv[1:]
    paths = [
        file for path in map(Path, paths)
        for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]
    rows = {name: row for name, row in dump(tabia, analysed, 4) if row.get("value")}
    positions = [
        Position(name, row, rows) for name, row in rows.items()
        if total(row["reached"]) >= POSITION_GAMES and row["ply"] < MAX_PLY - 2
    ]
    needed = {position.name for position in positions}
    needed.update(child for position in positions for child, _, _ in position.moves.values())
    print(f"{len(rows)} positions with values, {len(positions)} of {POSITION_GAMES} games or more")
    for near in (False, True):
        games = Games(tabia, divide(paths, near), needed)
        what = f"games with ratings at most {NEAR} apart" if near else "all games"
        print(f"{what}: {sum(games.totals)}")
        for share in (1.1, RARE_HERE):
            print(f" rare in all games{' and in the position' if share < 1 else ''}:")
            measure(positions, games, share)


if __name__ == "__main__":
    main()
