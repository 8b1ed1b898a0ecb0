//! Recognises files that users pass by mistake where a file of games is expected, so that error
//! messages can name the kind of file.

/// A kind of file: its first bytes, its name with an article, and advice to the user on what to do
/// with it.
type Kind = (&'static [u8], &'static str, &'static str);

const RESUME: &str = "repeat the command that wrote it, which resumes from it";

const KINDS: [Kind; 12] = [
    (
        b"TABIABK\n",
        "a Tabia book",
        "to use a book, pass it with -b; `tabia book add` adds games to it, `tabia book merge` \
         merges books",
    ),
    (b"TABIAMV\n", "a file of moves of a book", "`tabia book search` uses it with its book"),
    (b"tabia learning ", "a learning file", "pass it with --learn, or use `tabia book learn`"),
    (b"tabia network ", "a network", "pass it with --network"),
    (b"tabia games ", "a file of self-play", "use it with `tabia train`"),
    (b"tabia checkpoint ", "a training checkpoint", RESUME),
    (b"tabia analysis ", "an unfinished analysis of a book", RESUME),
    (b"tabia annotations ", "the unfinished work of `tabia annotate`", RESUME),
    (b"tabia match ", "the state of a match", RESUME),
    (b"tabia tuning ", "the journal of a tuning", RESUME),
    (b"\x7fELF", "a program", "name a file of games"),
    (b"SQLite format 3\0", "a database (SQLite)", "export its games as PGN first"),
];

const POLYGLOT_ROW: usize = 16;
/// A file is recognised as JSON only if the name of its first member ends within this many bytes.
const JSON_NAME: usize = 64;

pub(crate) const HEADER: u64 = 18;

/// Recognises a file that contains no games from its first bytes. Returns the name of its kind (with
/// an article), and advice to the user on what to do with the file.
pub(crate) fn kind_by_header(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = KINDS.iter().find(|(beginning, ..)| head.starts_with(beginning));
    found.map(|&(_, name, advice)| (name, advice))
}

/// Like [`kind_by_header`], but also recognises JSON and Polyglot books.
pub(crate) fn foreign_kind(head: &[u8]) -> Option<(&'static str, &'static str)> {
    let found = kind_by_header(head);
    found.or_else(|| is_json(head).then_some(("a JSON object", "name a file of games"))).or_else(
        || {
            is_polyglot(head).then_some((
                "a Polyglot book",
                "to use a book, pass it with -b; `tabia book import` converts it to a Tabia book",
            ))
        },
    )
}

/// Whether a file that starts with these bytes looks like a JSON object with at least one member.
/// An opening brace alone is not enough, because it can also start a PGN comment.
fn is_json(head: &[u8]) -> bool {
    let name = head.strip_prefix(b"{\"").unwrap_or_default();
    let end = name.iter().take(JSON_NAME).position(|&byte| byte == b'"');
    end.is_some_and(|end| name[end + 1..].first() == Some(&b':'))
}

/// Whether a file that starts with these bytes looks like a Polyglot book: the keys must be sorted,
/// and each entry must contain a move. Text never matches, because it contains no zero bytes.
fn is_polyglot(head: &[u8]) -> bool {
    let rows = head.as_chunks::<POLYGLOT_ROW>().0;
    let keys = rows.iter().map(|row| &row[..8]);
    let holds_move = |row: &[u8; POLYGLOT_ROW]| {
        let word = u16::from_be_bytes([row[8], row[9]]);
        let (from, to, promotion) = (word >> 6 & 63, word & 63, word >> 12);
        row[..8] == [0; 8] || (from != to && promotion <= 4)
    };
    head.contains(&0) && !rows.is_empty() && keys.is_sorted() && rows.iter().all(holds_move)
}
