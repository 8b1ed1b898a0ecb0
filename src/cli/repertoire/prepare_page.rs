//! The HTML page with the report on an opponent: openings by colour and year, and lines on a board.

use serde_json::{Value, json};

use super::dossier::Dossier;
use crate::games::pgn::PgnGame;
use crate::support::page::Page;

const PAGE: Page = Page {
    title: "Opponent",
    body: include_str!("prepare.html"),
    style: include_str!("prepare.css"),
    script: include_str!("prepare.js"),
};

pub(super) fn page(dossier: &Dossier, chapters: &[PgnGame]) -> String {
    PAGE.with(&data(dossier, chapters))
}

fn data(dossier: &Dossier, chapters: &[PgnGame]) -> Value {
    let colours = dossier.colours.iter().map(|colour| {
        json!({
            "side": colour.side,
            "games": colour.results.games(),
            "score": colour.results.score,
            "years": colour.years,
            "openings": colour.openings,
        })
    });
    json!({
        "player": dossier.names.first().map_or(&dossier.player, |row| &row.name),
        "colours": colours.collect::<Vec<_>>(),
        "lines": chapters.iter().map(line).collect::<Vec<_>>(),
    })
}

fn line(game: &PgnGame) -> Value {
    let (mut position, mut san) = (game.start, Vec::new());
    for played in &game.moves {
        san.push(position.san(played.mv));
        position = position.try_play(played.mv).unwrap_or(position);
    }
    let comments = game.moves.iter().map(|played| played.comment.as_str());
    json!({
        "title": game.tag("ChapterName"),
        "opening": game.tag("Opening"),
        "fen": game.start.fen(),
        "moves": game.moves.iter().map(|played| played.mv.to_string()).collect::<Vec<_>>(),
        "san": san,
        "comments": std::iter::once(game.comment.as_str()).chain(comments).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::position::Position;

    #[test]
    fn page_contains_lines_and_is_self_contained() {
        let mut game = PgnGame::new(Position::start());
        game.set_tag("ChapterName", "</script>");
        game.moves = vec!["e2e4".parse::<crate::chess::position::Move>().expect("a move").into()];
        game.moves[0].comment = "5 games".to_owned();
        let dossier = Dossier {
            player: "ann".to_owned(),
            names: Vec::new(),
            colours: Vec::new(),
            repertoire: None,
        };
        let data = data(&dossier, &[game]);
        assert_eq!(data["player"], "ann");
        assert_eq!(data["lines"][0]["san"], json!(["e4"]));
        assert_eq!(data["lines"][0]["comments"], json!(["", "5 games"]));
        crate::support::page::checks::check(&PAGE, &data);
    }
}
