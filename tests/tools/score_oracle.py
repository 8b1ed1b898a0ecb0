"""Finds the moves of a repertoire that score badly, for `repertoire-oracle`."""

import math
import statistics

import chess

from oracle import check, key

# The maximum difference between bounds of scores. It is not 0, because the program approximates the
# quantile of the normal distribution.
BOUND_EPSILON = 1e-3
# The confidence level of the bounds; the number of games whose weight an engine value has; the wins and
# losses that are added to moves without a value; and the minimum difference in points by which a low score is
# below the other scores.
CONFIDENCE, VALUE_GAMES, PRIOR, SCORE_MARGIN = 0.9, 100, (1, 1), 0.02


def expected_points(value):
    """The points that an engine value predicts."""
    if "mate" in value:
        return float(value["mate"] > 0)
    return 1 / (1 + 10 ** (-value["cp"] / 400))


def bounds(row, move, side):
    """The expected points of a move, with their bounds."""
    value, counts = move.get("value"), move["reached"]
    if value is None and row.get("value", {}).get("outside"):
        outside = row["value"]["outside"]
        value = outside["score"] if outside["uci"] == move["uci"] else None
    wins, losses = (counts["white"], counts["black"])[:: 1 if side else -1]
    if value is None:
        added, unknown = PRIOR, counts["undecided"] / 2
    else:
        points = expected_points(value)
        added, unknown = (VALUE_GAMES * points, VALUE_GAMES * (1 - points)), 0
    weights = {1: wins + unknown + added[0], 0.5: counts["draws"], 0: losses + unknown + added[1]}
    games = sum(weights.values())
    mean = sum(points * weight for points, weight in weights.items()) / games
    variance = sum(weight * (points - mean) ** 2 for points, weight in weights.items()) / games
    error = statistics.NormalDist().inv_cdf(CONFIDENCE) * math.sqrt(variance / games)
    if value is None:
        # Without a value, the prior affects only the bounds.
        games = sum(counts.values())
        wins += counts["draws"] / 2 + counts["undecided"] / 2
        return wins / games if games else 0.5, max(mean - error, 0), min(mean + error, 1)
    return mean, max(mean - error, 0), min(mean + error, 1)


def low_scores(repertoire, rows):
    """Returns three numbers by position and move: the distance from the upper bound of the move's score to
    the lower bound of the other moves' score, this lower bound, and the other moves' mean score."""
    found = {}
    for position in repertoire.own():
        row = rows.get(position, {"moves": []})
        scores = {move["uci"]: bounds(row, move, repertoire.side) for move in row["moves"]}
        games = {move["uci"]: sum(move["played"].values()) for move in row["moves"]}
        for move in repertoire.weights.get(position, ()):
            others = [one for one in scores if one != move.uci() and games[one]]
            total = sum(games[one] for one in others)
            if move.uci() in scores and total:
                mean, least = (
                    sum(games[one] * scores[one][part] for one in others) / total
                    for part in (0, 1)
                )
                below = least - scores[move.uci()][2]
                found[position, repertoire.boards[position].san(move)] = below, least, mean
    return found


def compare_scores(name, found, repertoire, rows):
    low = {(key(chess.Board(row["fen"])), row["san"]): row for row in found}
    for place, (below, least, mean) in low_scores(repertoire, rows).items():
        row = low.pop(place, None)
        if abs(below - SCORE_MARGIN) > BOUND_EPSILON:
            check((row is not None) == (below > SCORE_MARGIN), f"{name}: score {place}, {below}")
        if row is not None:
            differences = (
                row["usual_at_least"] - least, row["usual"] - mean, row["at_most"] - (least - below),
            )
            same = all(abs(difference) <= BOUND_EPSILON for difference in differences)
            check(same, f"{name}: {place}: {row} {differences}")
    check(not low, f"{name}: unexpected scores {list(low)}")
