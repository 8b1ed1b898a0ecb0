//! The examples of the manual. A test parses each as the program would.

pub(super) struct Example {
    /// The page: the command's words joined by hyphens.
    pub page: &'static str,
    /// The command line.
    pub line: &'static str,
    pub what: &'static str,
}

const fn example(page: &'static str, line: &'static str, what: &'static str) -> Example {
    Example { page, line, what }
}

#[rustfmt::skip]
pub(super) const EXAMPLES: &[Example] = &[
    example("tabia", "tabia", "A game in the terminal; help tells what can be typed."),
    example("tabia", "tabia --elo 1200", "The same against an opponent of that strength."),
    example("tabia", "xboard -fcp \"tabia -x\"", "A game in xboard, with the book that is built in."),
    example("tabia", "xboard -fcp \"tabia -x -b /games/mine.tbk\"", "With a book of your own, inside the search too. xboard wants whole paths."),
    example("tabia", "tabia book build games.pgn -o mine.tbk", "A book from your own games; tabia-book(6) has more."),
    example("tabia", "tabia serve games.pgn", "An explorer of openings in the browser, at http://127.0.0.1:9002/."),
    example("tabia-annotate", "tabia annotate games.pgn -o annotated.pgn --html annotated.html", "Marks mistakes, writes the better lines beside them, and makes a page to read."),
    example("tabia-autoplay", "tabia autoplay -1 \"tabia -x\" -2 gnuchess --games 100 --tc 10+0.1 --pgn match.pgn", "A hundred games at ten seconds and a tenth more a move."),
    example("tabia-bench", "tabia bench", "The node count and the speed."),
    example("tabia-bench-threads", "tabia bench threads -t 2,4", "How much sooner two and four threads are done than one."),
    example("tabia-bench-threads", "tabia bench threads -t 1,2,4,8 --svg threads.svg", "A picture of it too; one thread against itself shows what is chance."),
    example("tabia-bench-transpositions", "tabia bench transpositions --book mine.tbk --games others.pgn", "What a book inside the search is worth, on games that it does not know."),
    example("tabia-book", "tabia book build games.pgn -o mine.tbk", "Makes a book."),
    example("tabia-book", "tabia book show mine.tbk --opening Najdorf", "Looks into it."),
    example("tabia-book-add", "tabia book add mine.tbk week.pgn", "Adds the games of a week, without those that the book has counted."),
    example("tabia-book-analyse", "tabia book analyse mine.tbk --min-games 20 --nodes 100000", "Searches what 20 games and more have reached. Ctrl-C ends it, the same line goes on."),
    example("tabia-book-build", "tabia book build games.pgn more/ -o mine.tbk", "A book of a file and of all the files in a folder."),
    example("tabia-book-build", "tabia book build --min-elo 2400 --max-ply 30 games.pgn.zst -o masters.tbk", "The first 30 plies of games between strong players."),
    example("tabia-book-check", "tabia book check mine.tbk --side white --nodes 20000", "Where White's repertoire ends, and which of its moves lose something."),
    example("tabia-book-count", "tabia book count games.pgn --parquet counts", "The first half of a build, for DuckDB or Spark: see docs/guides/large-books.md."),
    example("tabia-book-count", "tabia book count games.pgn --parquet counts --facets", "The same by rating group, speed and month, for queries."),
    example("tabia-book-diff", "tabia book diff old.tbk new.tbk", "What has changed."),
    example("tabia-book-dump", "tabia book dump mine.tbk --opening B90 --format json", "All positions of the Najdorf, an object each, one a line."),
    example("tabia-book-export", "tabia book export mine.tbk -o mine.bin", "For programs that read Polyglot's books."),
    example("tabia-book-filter", "tabia book filter mine.tbk --side black --min-games 3 -o black.tbk", "Black's moves that were played three times and more."),
    example("tabia-book-find", "tabia book find games.pgn --moves \"d4 Nf6 c4 e6\"", "The games that came there, by these moves or others."),
    example("tabia-book-game", "tabia book game mine.tbk 00aB3xYz", "A game that book show has listed."),
    example("tabia-book-import", "tabia book import old.bin -o old.tbk", "A book of Tabia made of one of Polyglot."),
    example("tabia-book-info", "tabia book info mine.tbk", "How it was made, and how large it is."),
    example("tabia-book-learn", "tabia book learn learnt -o learnt.tbk", "A book of what the engine wrote down with --learn learnt."),
    example("tabia-book-merge", "tabia book merge masters.tbk mine.tbk:3 -o both.tbk", "Two books in one; games of the second count three times."),
    example("tabia-book-pack", "tabia book pack counts -o mine.tbk", "The second half: a book of counts."),
    example("tabia-book-show", "tabia book show embedded --moves \"e4 c5\"", "What the book that is built in knows of the Sicilian."),
    example("tabia-book-entropy", "tabia book entropy mine.tbk --plies 12", "How much openings vary, over six moves."),
    example("tabia-book-verify", "tabia book verify mine.tbk", "Whether the file is sound."),
    example("tabia-book-why", "tabia book why mine.tbk --moves \"e4 c5\" --policy best", "Why this move and no other."),
    example("tabia-eval", "tabia eval \"8/5k2/8/8/4P3/4K3/8/8 w - - 0 1\"", "An endgame, term by term."),
    example("tabia-generate", "sudo tabia generate share /usr/local/share", "What a package would bring besides the program, each file in its place."),
    example("tabia-generate-completions", "tabia generate completions bash > ~/.local/share/bash-completion/completions/tabia", "For your own bash alone."),
    example("tabia-generate-desktop", "tabia generate desktop > ~/.local/share/applications/tabia.desktop", "For your own desktop alone."),
    example("tabia-generate-man", "tabia generate man ~/.local/share/man/man6", "All pages, for yourself alone."),
    example("tabia-generate-plugin", "tabia generate plugin | sudo tee /usr/local/share/games/plugins/xboard/tabia.eng", "xboard lists the engine from its next start on."),
    example("tabia-generate-share", "sudo tabia generate share /usr/local/share", "For all users, after cargo install --root /usr/local."),
    example("tabia-lesson", "tabia lesson tree", "Alpha-beta, PVS and PV-splitting on a small tree, step by step."),
    example("tabia-lesson-book", "tabia lesson book", "What a book inside the search changes."),
    example("tabia-lesson-exercise", "tabia lesson exercise -n 10 --sheet exercises.html", "Ten questions to be printed, with their key."),
    example("tabia-lesson-forest", "tabia lesson forest -n 1000", "What each method costs on a thousand random trees."),
    example("tabia-lesson-nodes", "tabia lesson nodes -d 3", "What good orders of moves are worth."),
    example("tabia-lesson-research", "tabia lesson research --games 0", "The node counts of both orders, without a match."),
    example("tabia-lesson-split", "tabia lesson split -d 4 -t 1,2", "Two threads against one, on your machine."),
    example("tabia-lesson-trace", "tabia lesson trace -d 3 --moves \"e4 e5\" --html trace.html", "A search of a real position, as a page."),
    example("tabia-lesson-trace", "tabia lesson trace --engine -d 6 --html engine.html", "The search that plays, as a page to unfold."),
    example("tabia-lesson-tree", "tabia lesson tree random --seed 7 --html tree.html", "A random tree as a page in which it can be changed and searched."),
    example("tabia-perft", "tabia perft 5", "4,865,609 leaves from the start position."),
    example("tabia-serve", "tabia serve mine.tbk --games ~/chess", "A book, and the games that it was built from."),
    example("tabia-solve", "tabia solve suite.epd --seconds 1", "How many of a suite's positions are solved in a second each."),
    example("tabia-train", "tabia train games --games 1000 -o mine.games", "The first step; tabia-train-net(6) is the next."),
    example("tabia-train-error", "tabia train error deep.games --network new.bin --network old.bin", "Two networks against searches, by the number of men."),
    example("tabia-train-games", "tabia train games --games 1000 -o mine.games", "A thousand games against itself. The same line with more games goes on."),
    example("tabia-train-net", "tabia train net mine.games -o mine.bin", "A network for --network mine.bin."),
    example("tabia-train-pack", "tabia train pack mine.games -o kept.games", "The same games in less than half the bytes, for all commands that read them."),
    example("tabia-train-pgn", "tabia train pgn mine.games", "The same games for other programs."),
    example("tabia-train-relabel", "tabia train relabel old.games --nodes 400 -o new.games", "Old games for a new network, as today's network sees them. The same line goes on."),
    example("tabia-train-tune", "tabia train tune mine.games -o tuned.rs", "Weights for the classical evaluation."),
    example("tabia-tune", "tabia tune \"tabia -x\" --param Contempt,0,-50,50,5,0.002 --tc 2+0.02 -o contempt.tune", "One option, tuned by games."),
];

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    /// Returns the words of the part of a line that calls Tabia; `sudo` and shell operators are
    /// removed.
    fn words(line: &str) -> Vec<String> {
        let line = line.strip_prefix("sudo ").unwrap_or(line);
        let words = shlex::split(line).expect("quotation marks in pairs");
        words.into_iter().take_while(|word| word != "|" && word != ">").collect()
    }

    #[test]
    fn the_program_understands_every_example() {
        let mut faults = Vec::new();
        for Example { page, line, .. } in EXAMPLES {
            let mut called = words(line);
            if called[0] == "xboard" {
                called = words(&called[2]);
            }
            if let Err(error) = Cli::try_parse_from(&called) {
                faults.push(format!("{page}: {line}: {error}"));
            }
            let command = page.replace('-', " ");
            assert!(called.join(" ").starts_with(&command), "{page}: {line}");
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn every_command_has_an_example() {
        let mut open = vec![("tabia".to_owned(), Cli::command())];
        while let Some((page, command)) = open.pop() {
            assert!(EXAMPLES.iter().any(|example| example.page == page), "{page}");
            let below = command.get_subcommands();
            open.extend(below.map(|part| (format!("{page}-{}", part.get_name()), part.clone())));
        }
    }
}
