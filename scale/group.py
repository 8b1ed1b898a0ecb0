#!/usr/bin/env python3
"""Groups partial counts of `tabia book count` with DuckDB, for `tabia book pack`.

    scale/group.py COUNTS... -o GROUPED [--memory 4GB] [--threads N]

Files of the same name hold the same range of keys, so they are grouped one name after the other:
DuckDB has one part of the counts in hand, not all of them. Needs `pip install duckdb`.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import sys

import duckdb

# By whether the counts have facets.
QUERIES = {False: "group.sql", True: "group_facets.sql"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("counts", nargs="+", type=pathlib.Path, help="folders of partial counts")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the folder to write")
    parser.add_argument("--memory", default="4GB", help="what DuckDB may use; the rest waits on disk")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    args = parser.parse_args()

    parts = collections.defaultdict(list)
    manifests = []
    for folder in args.counts:
        for file in sorted(folder.rglob("*.parquet")):
            parts[file.name].append(str(file))
        manifests += sorted(folder.rglob("manifest*.json"))
    if not parts or not manifests:
        sys.exit(f"{args.counts[0]}: no partial counts there: name folders that `tabia book count` wrote")
    kinds = {json.loads(manifest.read_text(encoding="utf-8")).get("facets", False) for manifest in manifests}
    if len(kinds) > 1:
        sys.exit("some of the counts have facets and some do not: group them apart; `tabia book pack` takes both")
    if args.output.exists() and any(args.output.iterdir()):
        sys.exit(f"{args.output} is there already: name another folder")

    draft = args.output.with_name(f".{args.output.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    query = pathlib.Path(__file__).with_name(QUERIES[kinds.pop()])
    group(parts, query.read_text(encoding="utf-8"), draft, args)
    for number, manifest in enumerate(manifests):
        shutil.copyfile(manifest, draft / f"manifest-{number:05}.json")
    draft.replace(args.output)


def group(parts: dict[str, list[str]], query: str, folder: pathlib.Path, args: argparse.Namespace) -> None:
    """Writes a file of grouped rows for each part."""
    waiting = folder / ".waiting"
    settings = {
        "memory_limit": args.memory,
        "threads": args.threads,
        "temp_directory": str(waiting),
        "preserve_insertion_order": False,
    }
    with duckdb.connect(config=settings) as database:
        for name, files in sorted(parts.items()):
            database.execute(query, {"rows": files, "grouped": str(folder / name)})
    shutil.rmtree(waiting, ignore_errors=True)


if __name__ == "__main__":
    main()
