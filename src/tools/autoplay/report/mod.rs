//! The match report: a self-contained HTML page with tables, charts and all games. It is assembled
//! from `page.html`, style sheets, scripts and JSON data.

use std::path::PathBuf;

use crate::chess::notation;
use crate::chess::position::Color;
use crate::support::error::ParseError;
use crate::support::page::Page;
use serde_json::{Value, json};

use super::config::EngineConfig;
use super::state::FinishedGame;
use super::stats::{Sprt, Tally};
use super::summary::{against, ranking};
use super::tournament::Standings;

const PAGE: Page = Page {
    title: "Match report",
    body: include_str!("page.html"),
    style: concat!(include_str!("standings.css"), include_str!("page.css")),
    script: concat!(include_str!("standings.js"), include_str!("page.js")),
};

/// The script that displays standings, pairings and the sequential test. It is shared with the live
/// page.
#[cfg(feature = "serve")]
pub(crate) const STANDINGS_JS: &str = include_str!("standings.js");
/// The style sheet for [`STANDINGS_JS`].
#[cfg(feature = "serve")]
pub(crate) const STANDINGS_CSS: &str = include_str!("standings.css");

/// Information shown in a report besides the results.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Labelled facts about the match, such as the openings, the machine and the date.
    pub facts: Vec<(&'static str, String)>,
    /// The path of the PGN file, relative to the folder that contains the report; `None` if there
    /// is none.
    pub games: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Contents<'a> {
    pub event: &'a str,
    pub engines: &'a [EngineConfig],
    pub names: &'a [String],
    pub about: &'a About,
    pub standings: &'a Standings,
    /// The games, in order of completion.
    pub games: &'a [FinishedGame],
    pub sprt: Option<&'a Sprt>,
}

/// Creates the HTML page for a match. Fails if a game contains an illegal move, as may happen if
/// the state file was edited by hand.
pub(crate) fn page(contents: &Contents<'_>) -> Result<String, ParseError> {
    let &Contents { event, engines, names, about, standings, games, sprt } = contents;
    let by_finish: Vec<&FinishedGame> = games.iter().collect();
    let mut games = by_finish.clone();
    games.sort_by_key(|game| game.number);
    let rows =
        games.iter().map(|game| game_data(game)).collect::<Result<Vec<Value>, ParseError>>()?;
    let data = json!({
        "event": event,
        "engines": names.iter().zip(engines).map(engine_data).collect::<Vec<Value>>(),
        "facts": about.facts,
        "pgn": about.games.as_ref().map(|path| path.to_string_lossy()),
        "table": table(names, standings, names.len()),
        "pairings": standings.tallies.iter().map(|(&engines, tally)| {
            pairing(names, engines, tally, sprt)
        }).collect::<Vec<Value>>(),
        "sprt": sprt.map(|sprt| sprt_data(sprt, &by_finish)),
        "games": rows,
    });
    Ok(PAGE.with(&data))
}

fn engine_data((name, engine): (&String, &EngineConfig)) -> Value {
    let mut options: Vec<String> =
        engine.options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    options.extend(engine.ponder.then(|| "thinks on the opponent's time".to_owned()));
    options.extend(engine.restart.then(|| "restarted for each game".to_owned()));
    options.extend(engine.init.iter().map(|line| format!("gets \"{line}\" at the start")));
    json!({
        "name": name,
        "command": engine.command_line(),
        "protocol": engine.protocol.to_string(),
        "limits": engine.limits.to_string(),
        "margin": engine.margin.as_millis(),
        "options": options.join(", "),
    })
}

/// Returns the crosstable, with the best engine first. Each row contains the engine's points
/// against the top `columns` engines.
pub(crate) fn table(names: &[String], standings: &Standings, columns: usize) -> Value {
    let ranks = ranking(names.len(), standings);
    let rows = ranks.iter().map(|row| {
        let columns = ranks.iter().take(columns);
        let cells = columns.map(|column| against(standings, row.engine, column.engine));
        json!({
            "name": names[row.engine],
            "score": row.placing.map(|placing| placing.score),
            "buchholz": row.placing.map(|placing| placing.buchholz),
            "points": row.count.points(),
            "games": row.count.games(),
            "cells": cells.collect::<Vec<Option<f64>>>(),
        })
    });
    rows.collect()
}

/// Returns the results of the games between the two engines with the indexes `engines`.
pub(crate) fn pairing(
    names: &[String],
    engines: (usize, usize),
    tally: &Tally,
    sprt: Option<&Sprt>,
) -> Value {
    let elo = tally.elo();
    let colors = tally.by_color.map(|count| [count.wins, count.draws, count.losses]);
    let ends = tally.terminations.iter().map(|(end, count)| json!([end.name(), count]));
    json!({
        "names": [names[engines.0], names[engines.1]],
        "total": [tally.total.wins, tally.total.draws, tally.total.losses],
        "white": colors[0],
        "black": colors[1],
        "pairs": tally.pairs,
        "elo": elo.map(|elo| elo.value),
        "error": elo.and_then(|elo| elo.error),
        "los": tally.superiority(),
        "llr": sprt.map(|sprt| sprt.llr(&tally.pairs)),
        "ends": ends.collect::<Vec<Value>>(),
    })
}

/// Returns the data for displaying the sequential test, including its log-likelihood ratio after
/// each completed game pair.
fn sprt_data(sprt: &Sprt, games: &[&FinishedGame]) -> Value {
    let first = games.iter().find(|game| game.number == 1).map(|game| &game.names[0]);
    let mut tally = Tally::default();
    let mut curve = vec![0.0];
    for game in games {
        let as_white = Some(&game.names[0]) == first;
        let color = if as_white { Color::White } else { Color::Black };
        let before = tally.pairs;
        // Game numbers start at 1, but a state file edited by hand may contain 0.
        tally.add(game.number.saturating_sub(1) / 2, color, &game.verdict());
        if tally.pairs != before {
            curve.push(sprt.llr(&tally.pairs));
        }
    }
    let mut value = test(sprt);
    value["curve"] = json!(curve);
    value
}

/// Returns the hypotheses and the bounds of the sequential test.
pub(crate) fn test(sprt: &Sprt) -> Value {
    let (lower, upper) = sprt.bounds();
    json!({ "elo0": sprt.elo0, "elo1": sprt.elo1, "lower": lower, "upper": upper })
}

/// Returns the data of one game for the page. The moves are given in SAN for the move list and in
/// coordinate notation for the board.
fn game_data(finished: &FinishedGame) -> Result<Value, ParseError> {
    let game = finished.replay()?;
    let start = *game.start();
    Ok(json!({
        "number": finished.number,
        "names": finished.names,
        "result": finished.result,
        "end": finished.termination.name(),
        "detail": finished.detail,
        "fen": start.fen(),
        "opening": finished.opening_plies,
        "san": notation::line(&start, game.moves()).split_whitespace().collect::<Vec<_>>(),
        "moves": finished.moves,
        "scores": finished.scores,
        "seconds": finished.seconds,
        "remarks": finished.remarks,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::autoplay::stats::EloModel;
    use crate::tools::autoplay::verdict::Termination;

    #[test]
    fn page_is_self_contained() {
        crate::support::page::checks::check(&PAGE, &json!({}));
    }

    #[test]
    fn page_contains_the_games_with_script_tags_escaped() {
        let game = FinishedGame {
            number: 1,
            names: ["</script><b>".to_owned(), "b".to_owned()],
            result: "1-0".to_owned(),
            termination: Termination::Checkmate,
            detail: String::new(),
            fen: None,
            opening_plies: 0,
            moves: ["f2f3", "e7e5", "g2g4", "d8h4"].map(str::to_owned).to_vec(),
            scores: vec![None; 4],
            seconds: vec![0.0; 4],
            remarks: vec!["book".to_owned(), String::new(), "meets".to_owned(), String::new()],
            pgn: None,
        };
        let with = |game: FinishedGame, sprt: Option<&Sprt>| {
            let names = ["</script><b>".to_owned(), "b".to_owned()];
            page(&Contents {
                event: "event",
                engines: &[EngineConfig::default(), EngineConfig::default()],
                names: &names,
                about: &About::default(),
                standings: &Standings::default(),
                games: &[game],
                sprt,
            })
        };
        let page = with(game.clone(), None).expect("a page");
        assert!(page.contains("\"Qh4#\""));
        assert_eq!(page.matches("</script>").count(), 2);
        let broken = FinishedGame { moves: vec!["e2e5".to_owned()], ..game.clone() };
        assert!(with(broken, None).is_err());
        let by_hand = FinishedGame { number: 0, ..game };
        let model = EloModel::default();
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model };
        let page = with(by_hand, Some(&sprt));
        assert!(page.is_ok());
    }
}
