//! Keys against published values.

use std::fs;

use tabia::position::Position;

use crate::support::shared_data;

/// The keys published as test cases for the Polyglot book format
/// (<http://hgm.nubati.net/book_format.html>).
const PUBLISHED: [(u64, &str); 9] = [
    (0x463b_9618_1691_fc9c, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    (0x823c_9b50_fd11_4196, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"),
    (0x0756_b944_61c5_0fb0, "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2"),
    (0x662f_afb9_65db_29d4, "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2"),
    (0x22a4_8b5a_8e47_ff78, "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3"),
    (0x652a_607c_a3f2_42c1, "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3"),
    (0x00fd_d303_c946_bdd9, "rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4"),
    (0x3c81_23ea_7b06_7637, "rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3"),
    (0x5c3f_9b82_9b27_9560, "rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4"),
];

/// The number of rows for orthodox chess in `zobrist.csv`. The other 700 rows are for variants.
const CHESS_ROWS: usize = 100;
const ALL_ROWS: usize = 800;

#[test]
fn keys_match_published_values() {
    for (key, fen) in PUBLISHED {
        let position = Position::from_fen(fen).expect(fen);
        assert_eq!(position.polyglot_key(), key, "{fen}");
        // The two keys are equal in these positions, because every pseudo-legal en passant capture
        // is also legal.
        assert_eq!(position.key(), key, "{fen}");
    }
}

#[test]
fn keys_after_move_lists_match_published_values() {
    let Some(path) = shared_data("books/zobrist.csv") else { return };
    let text = fs::read_to_string(path).expect("the table is text");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let mut checked = 0;
    for row in &rows {
        let fields: Vec<&str> = row.split(',').collect();
        let [variant, moves, key] = fields[..] else { panic!("not three fields: {row}") };
        if variant == "chess" {
            let mut position = Position::start();
            for text in moves.split_whitespace() {
                position = position.play(position.parse_move(text).expect(row));
            }
            let wide = u128::from_str_radix(key.trim_start_matches("0x"), 16).expect(row);
            assert_eq!(position.polyglot_key(), wide as u64, "{row}");
            checked += 1;
        }
    }
    assert_eq!((checked, rows.len()), (CHESS_ROWS, ALL_ROWS));
}
