-- As group.sql, for counts with facets. Of the latest games of a day the one with the greatest id is
-- told, so that the order of the rows does not matter.
COPY (
    WITH grouped AS (
        SELECT
            key, pawns, black_to_move, move, again, rating_group, speed, month,
            sum(white)::BIGINT AS white,
            sum(draws)::BIGINT AS draws,
            sum(black)::BIGINT AS black,
            sum(undecided)::BIGINT AS undecided,
            sum(rating_sum)::BIGINT AS rating_sum,
            sum(rated)::BIGINT AS rated,
            max(struct_pack(day := latest, game := latest_game)) AS last
        FROM read_parquet($rows)
        GROUP BY key, pawns, black_to_move, move, again, rating_group, speed, month
    )
    SELECT * EXCLUDE (last), last.day AS latest, last.game AS latest_game
    FROM grouped
    ORDER BY key, again, move, rating_group, speed, month
) TO $grouped (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 131072);
