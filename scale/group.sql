-- Adds up the rows of partial counts that agree, and sorts them by key. group.py says which files
-- are read ($rows) and written ($grouped); docs/reference/parquet-counts.md tells what the columns are.
COPY (
    SELECT
        key, pawns, black_to_move, move, again,
        sum(white)::BIGINT AS white,
        sum(draws)::BIGINT AS draws,
        sum(black)::BIGINT AS black,
        sum(undecided)::BIGINT AS undecided
    FROM read_parquet($rows)
    GROUP BY key, pawns, black_to_move, move, again
    ORDER BY key, again, move
) TO $grouped (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072);
