//! Tests of `/report`, the HTML page of an opening report.

use std::io::Write;

use super::Server;

#[test]
fn report_is_a_page_of_the_position() {
    let (server, _folder) = Server::with_games();
    let answer = server.get("/report?play=d2d4,g8f6,c2c4,e7e6");
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(
        answer.header("content-security-policy").is_some_and(|policy| !policy.contains("script"))
    );
    assert!(answer.body.contains("<b>2 games</b> reached the position"), "{}", answer.body);
    assert!(answer.body.contains("Alpha, A (2400) – Beta (2300)"), "{}", answer.body);
    assert!(answer.body.contains("href=\"/?play=d2d4,g8f6,c2c4,e7e6\""), "{}", answer.body);
    assert!(
        answer.body.contains("games.pgn") && !answer.body.contains("<script"),
        "{}",
        answer.body
    );
}

#[test]
fn report_names_only_the_book_whose_games_it_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, moves) in [("one", "1. e4 e5 1-0"), ("two", "1. d4 d5 1-0")] {
        let text = format!("[White \"{name}\"]\n\n{moves}\n");
        std::fs::write(folder.path().join(format!("{name}.pgn")), text).expect("written");
    }
    let server = Server::start(&["one.pgn", "two.pgn"], folder.path());
    for (play, shown, other) in [("", "one.pgn", "two.pgn"), ("?play=d2d4", "two.pgn", "one.pgn")] {
        let page = server.get(&format!("/report{play}")).body;
        assert!(page.contains(shown) && !page.contains(other), "{play}: {page}");
        assert!(page.contains("<b>1 game</b> reached the position"), "{play}: {page}");
    }
}

#[test]
fn report_covers_the_games_that_pass_the_filters() {
    let folder = tempfile::tempdir().expect("a folder");
    let game = |year: u32, rating: u32, moves: &str| {
        format!(
            "[Date \"{year}.05.01\"]\n[WhiteElo \"{rating}\"]\n[White \"P{year}\"]\n\n{moves}\n\n"
        )
    };
    let games = game(1990, 2300, "1. e4 e5 1-0")
        + &game(2010, 2600, "1. e4 c5 0-1")
        + &game(2020, 2300, "1. d4 d5 1/2-1/2");
    std::fs::write(folder.path().join("games.pgn"), games).expect("written");
    let server = Server::start(&["embedded", "games.pgn"], folder.path());
    // The embedded book has no dates. Therefore, the report covers the other book.
    let page = server.get("/report?since=2000-01").body;
    for part in [
        "<b>2 games</b> reached the position",
        "Filters: since 2000.01.01.",
        "do not apply to the move orders",
        "Book: games.pgn",
        "2 in the book that pass the filters",
        "P2010",
        "href=\"/?since=2000-01\"",
        "&amp;since=2000-01\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("P1990"), "{page}");
    let page = server.get("/report?play=e2e4&ratings=2200,2500&until=2009-12").body;
    for part in [
        "<b>1 game</b> reached the position",
        "mean rating 2200–2499, 2500 and above; until 2009.12.31",
        "href=\"/?play=e2e4&amp;ratings=2200,2500&amp;until=2009-12\"",
        "1... e5",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("1... c5"), "{page}");
    let page = server.get("/report?since=2030-01").body;
    assert!(page.contains("No game that passes the filters reached the position"), "{page}");
    let server = Server::start(&["embedded"], folder.path());
    assert_eq!(server.get("/report?speeds=blitz").status, 409);
}

#[test]
fn bad_requests_for_reports_are_rejected() {
    let (server, _folder) = Server::with_games();
    for (path, status, part) in [
        ("/report?play=e2e5", 400, "no legal move"),
        ("/report?speeds=fast", 400, "speed"),
        ("/report?games=5001", 400, "from 0 to 5000"),
        ("/report?nonsense=1", 400, "nonsense"),
    ] {
        let answer = server.get(path);
        assert!(answer.status == status && answer.body.contains(part), "{path}: {}", answer.body);
    }
    let foreign = server.get_with("/report", "Origin: https://evil.example\r\n");
    assert_eq!(foreign.status, 403, "{}", foreign.body);
}

#[test]
fn report_of_a_client_that_has_gone_does_not_block_others() {
    let (server, _folder) = Server::with_games();
    for _ in 0..8 {
        let mut stream = server.connect();
        stream.write_all(b"GET /report HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    }
    assert_eq!(server.get("/report").status, 200);
}
