//! A self-contained HTML page of annotated games, with a board, a chart of expected points and the
//! important moments of each game. It depends only on the games, not on when they were annotated.

use serde_json::{Value, json};

use super::accuracy::expected;
use super::moments::is_commented;
use super::notes::{ENDS_SUMMARY, SUMMARY, without_evaluation};
use crate::chess::position::Position;
use crate::chess::score::{Score, mate_in, mated_in};
use crate::games::pgn::{PgnGame, PgnMove};
use crate::support::page::Page;

const PAGE: Page = Page {
    title: "Games, explained",
    body: include_str!("page.html"),
    style: concat!(include_str!("../../support/page/notes.css"), include_str!("page.css")),
    script: concat!(include_str!("../../support/page/notes.js"), include_str!("page.js")),
};

pub(crate) fn page(games: &[PgnGame]) -> String {
    PAGE.with(&json!({ "games": games.iter().map(game_data).collect::<Vec<_>>() }))
}

fn nonempty_tag<'a>(game: &'a PgnGame, name: &str) -> Option<&'a str> {
    game.tag(name).filter(|value| !value.is_empty() && !value.starts_with('?'))
}

pub(crate) fn game_data(game: &PgnGame) -> Value {
    let (mut position, mut san, mut notes) = (game.start, Vec::new(), Vec::new());
    for played in &game.moves {
        san.push(position.san(played.mv));
        notes.push(note(played, &position));
        position = position.try_play(played.mv).unwrap_or(position);
    }
    let player = |name: &str| {
        let elo = nonempty_tag(game, &format!("{name}Elo"))
            .map_or_else(String::new, |elo| format!(" ({elo})"));
        format!("{}{elo}", nonempty_tag(game, name).unwrap_or("?"))
    };
    let about: Vec<&str> = ["Event", "Date", "ECO", "Opening", "Annotator"]
        .into_iter()
        .filter_map(|name| nonempty_tag(game, name))
        .collect();
    json!({
        "title": format!("{} – {}  {}", player("White"), player("Black"), game.result),
        "about": about.join(" · "),
        "players": summary(&game.comment),
        "fen": game.start.fen(),
        "moves": game.moves.iter().map(|played| played.mv.to_string()).collect::<Vec<_>>(),
        "san": san,
        "notes": notes,
    })
}

fn summary(comment: &str) -> Vec<String> {
    let comment = comment.replace('\n', " ");
    let Some((_, words)) = comment.rsplit_once(SUMMARY) else { return Vec::new() };
    let (white, black) = words.split_once(ENDS_SUMMARY).unwrap_or((words, ""));
    let black = black.trim_end_matches('.');
    vec![format!("White: {white}"), format!("Black: {black}")]
}

fn note(played: &PgnMove, position: &Position) -> Value {
    let comment = played.comment.replace('\n', " ");
    let eval = evaluation(&comment);
    let words = without_evaluation(&comment);
    let variations = played.variations.iter().map(|line| line.movetext(position));
    json!({
        "nags": played.nags,
        "eval": eval,
        "expected": eval.and_then(score).map(|score| (1e3 * expected(score)).round() / 1e3),
        "moment": is_commented(&words),
        "comment": words,
        "variations": variations.collect::<Vec<_>>(),
    })
}

fn evaluation(comment: &str) -> Option<&str> {
    let (_, rest) = comment.split_once("[%eval ")?;
    rest.split([']', ',']).next().map(str::trim)
}

fn score(text: &str) -> Option<Score> {
    match text.strip_prefix('#') {
        Some(moves) => {
            let moves: Score = moves.parse().ok()?;
            let plies = moves.unsigned_abs().min(100) as usize * 2;
            Some(if moves > 0 { mate_in(plies) } else { mated_in(plies) })
        }
        None => text.parse::<f64>().ok().filter(|pawns| pawns.is_finite()).map(|pawns| {
            // No real evaluation exceeds 200 pawns. Larger values are errors by the program that
            // wrote the game, so they are clamped.
            (100.0 * pawns.clamp(-200.0, 200.0)) as Score
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::pgn::read_games;

    const GAME: &str = "[White \"</script>\"]\n[Black \"b\"]\n[WhiteElo \"2000\"]\n[BlackElo \"?\"]\n\n\
        {Round one. White: 1 blunder. Black: 0 blunders.} 1. f3 $6 {[%eval -0.8] Inaccuracy: 52% before} (1. e4\n e5) \
        e5 {[%eval #3]} 2. g4 $4 {[%eval nonsense] Allows mate in 1.} Qh4# 0-1\n";

    #[test]
    fn page_data_contains_tags_moves_and_notes() {
        let (game, _) = read_games(GAME.as_bytes()).next().expect("a game").expect("read");
        let data = game_data(&game);
        assert_eq!(data["title"], "</script> (2000) – b  0-1");
        assert_eq!(data["players"], json!(["White: 1 blunder", "Black: 0 blunders"]));
        assert_eq!(data["san"], json!(["f3", "e5", "g4", "Qh4#"]));
        assert_eq!(data["moves"][3], "d8h4");
        let note = &data["notes"][0];
        assert_eq!((&note["nags"], &note["eval"]), (&json!([6]), &json!("-0.8")));
        assert_eq!(note["expected"], json!(0.427), "e to the power of 0.29");
        assert_eq!(note["comment"], "Inaccuracy: 52% before");
        assert_eq!(note["variations"], json!(["1. e4 e5"]));
        assert_eq!(data["notes"][1]["expected"], json!(0.975), "a mate");
        assert_eq!(data["notes"][2]["expected"], Value::Null);
        assert_eq!(data["notes"][2]["moment"], true);
        crate::support::page::checks::check(&PAGE, &data);
    }

    #[test]
    fn evaluation_comments_of_other_programs_are_parsed() {
        let cases = [
            ("0.35", Some(35)),
            ("-12", Some(-1200)),
            ("1e300", Some(20_000)),
            ("#-2", Some(mated_in(4))),
        ];
        for (text, wanted) in cases {
            assert_eq!(score(text), wanted, "{text}");
        }
        assert_eq!(evaluation("[%clk 0:01:00] [%eval 1.25,20] good"), Some("1.25"));
        for text in ["", "x", "nan", "#", "#x"] {
            assert_eq!(score(text), None, "{text}");
        }
    }
}
