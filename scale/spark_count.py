#!/usr/bin/env python3
"""Counts games on a Spark cluster, for `tabia book pack`.

    spark-submit --master spark://HOST:7077 scale/spark_count.py GAMES... -o FOLDER --tabia TABIA \\
        [-- OPTIONS OF book count]

Each file of games is a task: some executor runs `tabia book count` on it, and Spark runs it again
elsewhere if the executor is lost. Then Spark shuffles the rows by ranges of keys, adds them up,
sorts them and writes FOLDER/grouped. The games, the program and FOLDER must be at the same paths on
all machines: a shared file system.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

SAME = ["key", "pawns", "black_to_move", "move", "again"]
SUMS = ["white", "draws", "black", "undecided"]
# With --facets.
SAME_FACETS = ["rating_group", "speed", "month"]
FACET_SUMS = ["rating_sum", "rated"]
LATEST = ["latest", "latest_game"]
GAMES = (".pgn", ".pgn.gz", ".pgn.bz2", ".pgn.zst", ".parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="+", type=pathlib.Path, help="files, and folders of files")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the folder to write")
    parser.add_argument("--tabia", required=True, help="the program, built with Parquet")
    parser.add_argument("--partitions", type=int, default=200, help="ranges of keys, a file each")
    parser.epilog = "What comes after -- are options of `tabia book count`."
    own, options = split(sys.argv[1:])
    args = parser.parse_args(own)

    if args.output.exists():
        sys.exit(f"{args.output} is there already: name another folder")
    counts, grouped = ((args.output / name).absolute() for name in ("counts", "grouped"))
    counts.mkdir(parents=True)
    shards = [str(path.absolute()) for path in files_of(args.games)]
    folders = [counts / f"{number:05}" for number in range(len(shards))]
    tasks = [(args.tabia, shard, str(folder), options) for shard, folder in zip(shards, folders)]

    spark = SparkSession.builder.appName("tabia").getOrCreate()
    spark.sparkContext.parallelize(tasks, len(tasks)).foreach(count)
    tables = spark.read.option("pathGlobFilter", "*.parquet")
    rows = tables.parquet(*(f"file://{folder}" for folder in folders))
    (
        group(rows.repartitionByRange(args.partitions, "key"))
        .write.option("compression", "zstd")
        .parquet(f"file://{grouped}")
    )
    for folder in folders:
        shutil.copyfile(folder / "manifest.json", grouped / f"manifest-{folder.name}.json")
    spark.stop()


def group(rows: DataFrame) -> DataFrame:
    """Adds up the rows that agree, and sorts them within each range of keys."""
    same, sums, latest = SAME, SUMS, []
    if "rating_group" in rows.columns:
        same, sums, latest = SAME + SAME_FACETS, SUMS + FACET_SUMS, LATEST
    # Of the latest games of a day the one with the greatest id, whatever the order of the rows.
    last = [f.max(f.struct(*latest)).alias("last")] if latest else []
    grouped = rows.groupBy(*same).agg(*(f.sum(column).alias(column) for column in sums), *last)
    told = [*same, *sums, *(f"last.{column}" for column in latest)]
    return grouped.select(*told).sortWithinPartitions("key", "again", "move")


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and those after `--`."""
    if "--" not in arguments:
        return arguments, []
    place = arguments.index("--")
    return arguments[:place], arguments[place + 1 :]


def files_of(paths: list[pathlib.Path]) -> list[pathlib.Path]:
    """The files of games, as `tabia book build` finds them."""
    files = []
    for path in paths:
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        files += [file for file in found if file == path or file.name.lower().endswith(GAMES)]
    if not files:
        sys.exit(f"{paths[0]}: no files of games in it")
    return files


def count(task: tuple[str, str, str, list[str]]) -> None:
    """Counts one file. The folder appears as a whole, so whoever finds it need do nothing."""
    program, shard, folder, options = task
    if pathlib.Path(folder).exists():
        return
    command = [program, "book", "count", shard, "--parquet", folder, "--threads", "1", "--quiet"]
    done = subprocess.run(command + options, capture_output=True, text=True)
    # Another attempt at the same file may have been faster.
    if done.returncode != 0 and not pathlib.Path(folder).exists():
        raise RuntimeError(f"{shard}: {done.stderr.strip()}")


if __name__ == "__main__":
    main()
