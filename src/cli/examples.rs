//! The examples in the long help text of every command and in the manual.

use std::fmt::Write;

use clap::Command;

/// Each entry contains the command it belongs to, an example command line, and what the command
/// line does.
#[rustfmt::skip]
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("tabia", "tabia", "Plays a game in the terminal; `help` lists what you can type."),
    ("tabia", "tabia --elo 1200", "The same against an opponent of that strength."),
    ("tabia", "xboard -fcp \"tabia -x -b /games/mine.tbk\"", "Plays in xboard, with a book of your own inside the search too. xboard needs whole paths."),
    ("tabia", "tabia book build games.pgn -o mine.tbk", "Makes a book from your own games."),
    ("tabia", "tabia serve games.pgn", "Explores openings in the browser, at http://127.0.0.1:9002/."),
    ("tabia annotate", "tabia annotate games.pgn -o annotated.pgn --html annotated.html", "Marks mistakes, adds better lines, and makes a page to read."),
    ("tabia autoplay", "tabia autoplay -1 \"tabia -x\" -2 gnuchess --games 100 --tc 10+0.1 --pgn match.pgn", "Plays a hundred games with ten seconds and a tenth more for each move."),
    ("tabia autoplay", "tabia autoplay -1 new -2 old --games 20000 --tc 8+0.08 --openings book.epd --sprt 0,5", "Tests whether a new version is stronger."),
    ("tabia bench", "tabia bench", "Prints the node count and the speed."),
    ("tabia bench constants", "tabia bench constants > constants.txt", "Writes parameters for `tabia tune --params`."),
    ("tabia bench threads", "tabia bench threads -t 1,2,4 --svg threads.svg", "Compares two and four threads with one. One thread against itself shows the noise."),
    ("tabia bench transpositions", "tabia bench transpositions --book mine.tbk --games others.pgn", "Measures the book inside the search on games that it does not contain."),
    ("tabia book", "tabia book build games.pgn -o mine.tbk", "Makes a book."),
    ("tabia book", "tabia book show mine.tbk --opening Najdorf", "Shows a position of it."),
    ("tabia book add", "tabia book add mine.tbk week.pgn", "Adds the games of a week, except those that are in the book."),
    ("tabia book analyse", "tabia book analyse mine.tbk --min-games 20 --nodes 100000", "Searches what 20 or more games reached. After Ctrl-C the same command resumes."),
    ("tabia book build", "tabia book build games.pgn more/ -o mine.tbk", "Makes a book from a file and from all files in a folder."),
    ("tabia book build", "tabia book build --min-elo 2400 --max-ply 30 games.pgn.zst -o masters.tbk", "Counts the first 30 plies of games between strong players."),
    ("tabia book count", "tabia book count games.pgn --parquet counts", "Makes the first half of a build, for DuckDB or Spark."),
    ("tabia book diff", "tabia book diff old.tbk new.tbk", "Shows what has changed."),
    ("tabia book dump", "tabia book dump mine.tbk --opening B90 --format json", "Prints all positions of the Najdorf as JSON, one a line."),
    ("tabia book export", "tabia book export mine.tbk -o mine.bin", "Writes a book for programs that read Polyglot books."),
    ("tabia book filter", "tabia book filter mine.tbk --side black --min-games 3 -o black.tbk", "Keeps Black's moves that were played three times or more."),
    ("tabia book find", "tabia book find games.pgn --moves \"d4 Nf6 c4 e6\"", "Finds the games that reached this position, by any order of moves."),
    ("tabia book game", "tabia book game mine.tbk 00aB3xYz", "Prints a game that `book show` has listed."),
    ("tabia book import", "tabia book import old.bin -o old.tbk", "Converts a Polyglot book."),
    ("tabia book info", "tabia book info mine.tbk", "Shows how the book was made, and its size."),
    ("tabia book learn", "tabia book learn learnt -o learnt.tbk", "Makes a book from the file of `tabia --learn learnt`."),
    ("tabia book merge", "tabia book merge masters.tbk mine.tbk:3 -o both.tbk", "Adds two books; games of the second count three times."),
    ("tabia book pack", "tabia book pack counts -o mine.tbk", "Makes a book from the counts of `book count`."),
    ("tabia book report", "tabia book report najdorf -b mine.tbk -o najdorf.html", "Makes a page about the Najdorf, to read or to print."),
    ("tabia book search", "tabia book search KRPPvKRP for=6 mirror -b games.tbk", "Lists the games that had this rook endgame for three moves."),
    ("tabia book show", "tabia book show embedded --moves \"e4 c5\"", "Shows the Sicilian in the built-in book."),
    ("tabia book entropy", "tabia book entropy mine.tbk --plies 12", "Shows the entropy over the first six moves."),
    ("tabia book verify", "tabia book verify mine.tbk", "Tests whether the file is sound."),
    ("tabia book why", "tabia book why mine.tbk --moves \"e4 c5\" --policy best", "Explains the choice of the policy `best`."),
    ("tabia eval", "tabia eval \"8/5k2/8/8/4P3/4K3/8/8 w - - 0 1\"", "Evaluates an endgame term by term."),
    ("tabia lesson", "tabia lesson tree", "Shows alpha-beta, PVS and PV-splitting on a small tree."),
    ("tabia lesson book", "tabia lesson book", "Shows what a book inside the search changes."),
    ("tabia lesson exercise", "tabia lesson exercise -n 10 --sheet exercises.html", "Makes a page of ten questions, with answers."),
    ("tabia lesson forest", "tabia lesson forest -n 1000", "Compares all methods on a thousand random trees."),
    ("tabia lesson nodes", "tabia lesson nodes -d 3", "Shows the effect of good move orders."),
    ("tabia lesson research", "tabia lesson research --games 0", "Compares the node counts of both orders, without a match."),
    ("tabia lesson split", "tabia lesson split -d 4 -t 1,2", "Compares two threads with one."),
    ("tabia lesson trace", "tabia lesson trace -d 3 --moves \"e4 e5\" --html trace.html", "Makes a page of the search of a real position."),
    ("tabia lesson trace", "tabia lesson trace --engine -d 6 --html engine.html", "Makes a page of the engine's own search."),
    ("tabia lesson tree", "tabia lesson tree random --seed 7 --html tree.html", "Makes a page of a random tree that you can change and search."),
    ("tabia perft", "tabia perft 5", "Counts 4,865,609 leaves from the start position."),
    ("tabia ratings", "tabia ratings match.pgn --anchor \"GNU Chess=2700\"", "Rates all players of a file against a known one."),
    ("tabia repertoire", "tabia repertoire check white.pgn --side white --reference games.pgn", "Lists the replies that your lines do not answer, the most frequent first."),
    ("tabia repertoire build", "tabia repertoire build white.pgn --side white -o white.tbk", "Makes a book of all moves and variations of a study."),
    ("tabia repertoire check", "tabia repertoire check white.pgn --side white --reference games.tbk --ratings 1600,1800", "Compares with the games of players of your level."),
    ("tabia repertoire check", "tabia repertoire check white.tbk --nodes 100000 --pgn gaps.pgn", "Searches for answers and weak moves, and writes a study of the gaps."),
    ("tabia repertoire grow", "tabia repertoire grow mine.pgn --side black --reference games.tbk -o complete.pgn", "Fills the gaps of a repertoire, and keeps its moves."),
    ("tabia repertoire grow", "tabia repertoire grow --side white --reference games.pgn --style fewest-positions --min-probability 0.01 -o small.pgn", "Makes a small repertoire, which uses transpositions."),
    ("tabia repertoire prepare", "tabia repertoire prepare Carlsen games.pgn --repertoire black.pgn --side black --html carlsen.html", "Writes a page with Carlsen's openings and the positions in your repertoire."),
    ("tabia repertoire report", "tabia repertoire report white.pgn games.pgn --side white --player Me --reference masters.tbk", "The same for your own games, with counts and values of a book."),
    ("tabia repertoire train", "tabia repertoire train white.pgn --side white -b games.tbk --ratings 1600,1800", "Asks for your moves, against the replies of players of your level."),
    ("tabia serve", "tabia serve mine.tbk --games ~/chess", "Serves a book and the games that it was built from."),
    ("tabia solve", "tabia solve suite.epd --seconds 1", "Counts the positions of a suite that are solved in a second each."),
    ("tabia train", "tabia train games --games 1000 -o mine.games", "Plays games to train on; `tabia train net` is the next step."),
    ("tabia train export", "tabia train export mine.games -o mine.examples", "Writes the positions for `benches/train_gpu.py`."),
    ("tabia train games", "tabia train games --games 1000 -o mine.games", "Plays a thousand games. With a larger number the same command continues."),
    ("tabia train net", "tabia train net mine.games -o mine.bin", "Trains a network for `tabia --network mine.bin`."),
    ("tabia train pack", "tabia train pack mine.games -o packed.games", "Packs games into less than half the bytes."),
    ("tabia train pgn", "tabia train pgn mine.games", "Prints games for other programs."),
    ("tabia train relabel", "tabia train relabel old.games --nodes 400 -o new.games", "Evaluates old games with the present network. The same command resumes."),
    ("tabia train tune", "tabia train tune mine.games -o tuned.rs", "Tunes the weights of the classical evaluation."),
    ("tabia tune", "tabia tune \"tabia -x\" --param Contempt,0,-50,50,5,0.002 --tc 2+0.02 -o contempt.tune", "Tunes one option by games."),
];

/// Adds examples to the long help text of a command and all its subcommands.
pub(super) fn add(command: Command) -> Command {
    let name = command.get_name().to_owned();
    add_below(command, &name)
}

fn add_below(command: Command, name: &str) -> Command {
    let mut text = "Examples:".to_owned();
    for (_, line, effect) in EXAMPLES.iter().filter(|(command, ..)| *command == name) {
        let _ = write!(text, "\n  {line}\n      {effect}");
    }
    command.after_long_help(text).mut_subcommands(|command| {
        let name = format!("{name} {}", command.get_name());
        add_below(command, &name)
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, command};

    const COLUMNS: usize = 100;
    const LINES: usize = 40;

    fn commands() -> Vec<(String, Command)> {
        let mut root = command().term_width(COLUMNS);
        // `build` propagates the global options to every subcommand.
        root.build();
        let mut found = vec![("tabia".to_owned(), root)];
        let mut next = 0;
        while let Some((above, command)) = found.get(next).cloned() {
            next += 1;
            let below = command.get_subcommands().filter(|below| below.get_name() != "help");
            found.extend(below.map(|command| {
                let name = format!("{above} {}", command.get_name());
                (name, command.clone().term_width(COLUMNS))
            }));
        }
        found
    }

    #[test]
    fn the_short_help_of_every_command_fits_on_a_screen() {
        let mut faults = Vec::new();
        for (name, mut command) in commands() {
            let help = command.render_help().to_string();
            let lines = help.lines().count();
            let width = help.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            if lines > LINES || width > COLUMNS {
                faults.push(format!("{name}: {lines} lines of {width} columns\n{help}"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn the_long_help_of_every_command_has_an_example() {
        for (name, mut command) in commands() {
            let help = command.render_long_help().to_string();
            let examples = help.split("\nExamples:\n").nth(1).unwrap_or_default();
            assert!(examples.contains(&name), "{name}: {help}");
        }
    }

    #[test]
    fn every_example_can_be_parsed() {
        let names: Vec<String> = commands().into_iter().map(|(name, _)| name).collect();
        for (name, line, _) in EXAMPLES.iter().filter(|(name, ..)| names.iter().any(|n| n == name))
        {
            let mut words = shlex::split(line).expect("quotation marks in pairs");
            if words[0] == "xboard" {
                words = shlex::split(&words[2]).expect("quotation marks in pairs");
            }
            let words: Vec<String> = words.into_iter().take_while(|word| word != ">").collect();
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{line}: {error}");
            }
            assert!(words.join(" ").starts_with(name), "{name}: {line}");
        }
    }
}
