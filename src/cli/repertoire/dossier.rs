//! A report on the openings of an opponent (a dossier), as rows that all output formats share.

use std::collections::BTreeMap;

use serde::Serialize;

use super::played::Played;
use super::report_rows::{Results, family};
use crate::chess::position::{Color, Game, Move, Position};
use crate::games::book::{Counts, Names};
use crate::games::pgn::{GameDate, PgnGame, PgnMove, Variation};
use crate::games::repertoire::{NewMove, OpponentGames, Reached, Repertoire, Spot};

#[derive(Serialize)]
pub(super) struct Dossier {
    pub player: String,
    /// The matching player names and the number of games of each, most frequent name first.
    pub names: Vec<NameRow>,
    /// Results for the games as White and for those as Black. A colour without games is omitted.
    pub colours: Vec<ColourRows>,
    /// `None` without a repertoire.
    pub repertoire: Option<RepertoireRows>,
}

#[derive(Serialize)]
pub(super) struct NameRow {
    pub name: String,
    pub games: u64,
}

#[derive(Serialize)]
pub(super) struct ColourRows {
    pub side: &'static str,
    #[serde(flatten)]
    pub results: Results,
    pub years: Vec<YearRow>,
    pub openings: Vec<OpeningShare>,
    /// The player's weak spots: positions reached in enough games, sorted by the upper bound of the
    /// player's expected score, lowest first.
    pub spots: Vec<SpotRow>,
}

#[derive(Serialize)]
pub(super) struct YearRow {
    /// The year in which the games were played. `None` if they have no date.
    pub year: Option<u16>,
    /// These games as a fraction of the player's games with this colour in this year.
    pub share: f64,
    #[serde(flatten)]
    pub results: Results,
}

#[derive(Serialize)]
pub(super) struct OpeningShare {
    /// The opening's name without the variation, or `None` if no position in the games has a name.
    pub opening: Option<String>,
    /// These games as a fraction of all the player's games with this colour.
    pub share: f64,
    #[serde(flatten)]
    pub results: Results,
    pub years: Vec<YearRow>,
}

#[derive(Serialize)]
pub(super) struct PositionRow {
    pub fen: String,
    /// The moves of the first game that reached the position.
    pub line: String,
    pub opening: Option<String>,
    #[serde(flatten)]
    pub results: Results,
    pub last_year: Option<u16>,
    pub next: Vec<NextRow>,
    #[serde(skip)]
    pub moves: (Position, Vec<Move>),
}

#[derive(Serialize)]
pub(super) struct NextRow {
    pub san: String,
    #[serde(flatten)]
    pub results: Results,
}

#[derive(Serialize)]
pub(super) struct SpotRow {
    #[serde(flatten)]
    pub at: PositionRow,
    /// The bounds of the 95% confidence interval for the player's expected score.
    pub low: f64,
    pub high: f64,
    /// Whether `high` is below the player's average score with this colour.
    pub below_mean: bool,
}

/// Positions that occur both in the player's games and in a repertoire, and repertoire moves that
/// lead from the player's games to new positions.
#[derive(Serialize)]
pub(super) struct RepertoireRows {
    pub side: &'static str,
    pub meetings: Vec<MeetingRow>,
    pub new: Vec<NewRow>,
}

#[derive(Serialize)]
pub(super) struct MeetingRow {
    #[serde(flatten)]
    pub at: PositionRow,
    /// The fraction of the player's games with this colour that reached the position.
    pub share: f64,
    /// The repertoire's moves in the position, for whichever side is to move.
    pub prepared: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct NewRow {
    /// The position before the move.
    #[serde(flatten)]
    pub at: PositionRow,
    pub san: String,
    #[serde(skip)]
    pub mv: Move,
}

pub(super) struct Collection {
    names: BTreeMap<String, u64>,
    colours: [ColourGames; 2],
    opening_names: Names,
}

type Years = BTreeMap<Option<u16>, Counts>;

struct ColourGames {
    games: OpponentGames,
    years: Years,
    openings: BTreeMap<Option<String>, Years>,
}

impl Collection {
    pub(super) fn new(max_ply: usize) -> Self {
        let of = |side| ColourGames {
            games: OpponentGames::new(side, max_ply),
            years: Years::new(),
            openings: BTreeMap::new(),
        };
        Collection {
            names: BTreeMap::new(),
            colours: [of(Color::White), of(Color::Black)],
            opening_names: Names::embedded(),
        }
    }

    pub(super) fn add(&mut self, played: &Played, side: Color) {
        let game = &played.game;
        let date = game.tag("Date").and_then(|date| GameDate::parse(date).ok());
        let year = date.and_then(GameDate::month).map(|month| month.year);
        let moves: Vec<Move> = game.moves.iter().map(|played| played.mv).collect();
        let opening = self.opening_names.of_game(&game.replay());
        let opening = opening.map(|opening| family(&opening.name).to_owned());
        *self.names.entry(played.player(side).to_owned()).or_default() += 1;
        let colour = &mut self.colours[usize::from(side == Color::Black)];
        colour.games.add(&game.start, &moves, game.result, year);
        for years in [&mut colour.years, colour.openings.entry(opening).or_default()] {
            *years.entry(year).or_default() += Counts::of(game.result, 1);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Builds a report on the player's openings. Positions reached in fewer than `min_games` games
    /// are not listed as weak spots.
    pub(super) fn dossier(
        &self,
        player: &str,
        repertoire: Option<&Repertoire>,
        min_games: u64,
    ) -> Dossier {
        let names = self.names.iter().map(|(name, &games)| NameRow { name: name.clone(), games });
        let mut names: Vec<NameRow> = names.collect();
        names.sort_by_key(|row| std::cmp::Reverse(row.games));
        let colours = self.colours.iter().filter(|colour| !colour.years.is_empty());
        Dossier {
            player: player.to_owned(),
            names,
            colours: colours.map(|colour| self.colour(colour, min_games)).collect(),
            repertoire: repertoire.map(|repertoire| self.repertoire(repertoire)),
        }
    }

    fn colour(&self, colour: &ColourGames, min_games: u64) -> ColourRows {
        let ColourGames { games, years, openings } = colour;
        let of_year = |(&year, &counts): (&Option<u16>, &Counts)| {
            let all = years.get(&year).map_or(1, Counts::games);
            let share = counts.games() as f64 / all as f64;
            YearRow { year, share, results: Results::new(counts, games.side) }
        };
        let opening = |(opening, years): (&Option<String>, &Years)| {
            let results = Results::new(years.values().copied().sum(), games.side);
            OpeningShare {
                opening: opening.clone(),
                share: results.games() as f64 / games.results.games() as f64,
                results,
                years: years.iter().map(of_year).collect(),
            }
        };
        let mut openings: Vec<OpeningShare> = openings.iter().map(opening).collect();
        openings.sort_by_key(|row| std::cmp::Reverse(row.results.games()));
        ColourRows {
            side: name(games.side),
            results: Results::new(games.results, games.side),
            years: years.iter().map(of_year).collect(),
            openings,
            spots: games.spots(min_games).iter().map(|spot| self.spot(games, spot)).collect(),
        }
    }

    fn spot(&self, games: &OpponentGames, spot: &Spot<'_>) -> SpotRow {
        let (low, high) = spot.bounds;
        SpotRow { at: self.row(games, spot.reached), low, high, below_mean: spot.is_below_mean }
    }

    fn repertoire(&self, repertoire: &Repertoire) -> RepertoireRows {
        let games = &self.colours[usize::from(repertoire.side == Color::White)].games;
        let meeting = |reached: &Reached| {
            let node = repertoire.node(&reached.position);
            let moves = node.map_or(&[][..], |node| &node.moves);
            MeetingRow {
                at: self.row(games, reached),
                share: reached.results.games() as f64 / games.results.games() as f64,
                prepared: moves.iter().map(|known| reached.position.san(known.mv)).collect(),
            }
        };
        let new = |&NewMove { reached, mv }: &NewMove<'_>| NewRow {
            at: self.row(games, reached),
            san: reached.position.san(mv),
            mv,
        };
        RepertoireRows {
            side: name(repertoire.side),
            meetings: games.meetings(repertoire).into_iter().map(meeting).collect(),
            new: games.new_moves(repertoire).iter().map(new).collect(),
        }
    }

    fn row(&self, games: &OpponentGames, reached: &Reached) -> PositionRow {
        let Reached { position, results, moves, last_year, .. } = reached;
        let (start, line) = games.line(reached);
        let mut game = Game::new(*start);
        for &mv in line {
            // Cannot fail, because the moves are legal.
            let _ = game.play(mv);
        }
        let opening = self.opening_names.of_game(&game).map(|opening| opening.name.clone());
        let mut moves = moves.clone();
        moves.sort_by_key(|(mv, played)| (std::cmp::Reverse(played.games()), *mv));
        let next = moves.iter().map(|&(mv, played)| NextRow {
            san: position.san(mv),
            results: Results::new(played, games.side),
        });
        PositionRow {
            fen: position.fen(),
            line: line.iter().copied().collect::<Variation>().movetext(start),
            opening,
            results: Results::new(*results, games.side),
            last_year: *last_year,
            next: next.collect(),
            moves: (*start, line.to_vec()),
        }
    }
}

fn name(side: Color) -> &'static str {
    if side == Color::White { "white" } else { "black" }
}

impl PositionRow {
    pub(super) fn chapter(&self, name: &str, comment: String) -> PgnGame {
        let (start, moves) = &self.moves;
        let mut game = PgnGame::new(*start);
        game.set_tag("Event", name);
        game.set_tag("ChapterName", name);
        self.opening.iter().for_each(|opening| game.set_tag("Opening", opening.clone()));
        game.moves = moves.iter().map(|&mv| PgnMove::from(mv)).collect();
        let target = game.moves.last_mut().map_or(&mut game.comment, |last| &mut last.comment);
        *target = comment;
        game
    }
}
