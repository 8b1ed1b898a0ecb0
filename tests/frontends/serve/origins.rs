//! Tests which origins may use which endpoints.

use super::Server;

/// Request headers that pages of other sites may send to Lichess's explorer.
const HEADERS: [&str; 5] =
    ["origin", "authorization", "if-modified-since", "cache-control", "content-type"];
const OPEN: [&str; 13] = [
    "/masters",
    "/master",
    "/lichess?history=true",
    "/lichess/history",
    "/player?player=beta&color=white",
    "/personal?player=beta&color=white",
    "/masters/pgn/00000000",
    "/master/pgn/00000000",
    "/book",
    "/book/move-orders",
    "/game/00000000",
    "/status",
    "/nothing",
];
const COSTLY: [(&str, &str); 3] =
    [("GET", "/analysis?seconds=1"), ("POST", "/annotate?nodes=100"), ("POST", "/read")];
const ALLOWED: &str = "https://chess.example";

fn server() -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("games.pgn"), super::GAMES).expect("written");
    (Server::start(&["games.pgn", "--origin", ALLOWED], folder.path()), folder)
}

impl Server {
    fn request(&self, method: &str, path: &str, headers: &str) -> super::Answer {
        let body = if method == "POST" { "1. e4" } else { "" };
        let length = body.len();
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}",
            self.address
        ))
    }

    fn preflight(&self, method: &str, path: &str, headers: &[&str], origin: &str) -> super::Answer {
        let headers = match headers {
            [] => String::new(),
            some => format!("Access-Control-Request-Headers: {}\r\n", some.join(",")),
        };
        self.request(
            "OPTIONS",
            path,
            &format!("Origin: {origin}\r\nAccess-Control-Request-Method: {method}\r\n{headers}"),
        )
    }
}

fn list(answer: &super::Answer, name: &str) -> Vec<String> {
    let value = answer.header(name).unwrap_or_default().to_lowercase();
    value.split(',').map(|part| part.trim().to_owned()).collect()
}

#[test]
fn any_origin_may_use_the_explorer_with_lichess_headers() {
    let (server, _folder) = server();
    for path in OPEN {
        for set in 0..1_u32 << HEADERS.len() {
            let wanted: Vec<&str> = (0..HEADERS.len())
                .filter(|bit| set >> bit & 1 == 1)
                .map(|bit| HEADERS[bit])
                .collect();
            let answer = server.preflight("GET", path, &wanted, "https://site.example");
            let case = format!("{path} {wanted:?}: {}", answer.head);
            assert!((200..300).contains(&answer.status), "{case}");
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{case}");
            assert_eq!(answer.header("access-control-max-age"), Some("86400"), "{case}");
            let allowed = list(&answer, "access-control-allow-headers");
            assert!(wanted.iter().all(|header| allowed.iter().any(|own| own == header)), "{case}");
            assert!(
                list(&answer, "access-control-allow-methods").contains(&"get".to_owned()),
                "{case}"
            );
        }
        for method in ["GET", "POST", "DELETE"] {
            let sent = "Origin: https://site.example\r\nAuthorization: Bearer lip_x\r\nCache-Control: no-cache\r\n";
            let answer = server.request(method, path, sent);
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{method} {path}");
            if method != "GET" && path != "/nothing" {
                assert_eq!(answer.status, 405, "{method} {path}");
                assert!(answer.json()["error"].is_string(), "{method} {path}");
            }
        }
    }
}

#[test]
fn only_own_and_allowed_origins_may_use_costly_endpoints() {
    let (server, _folder) = server();
    let own = format!("http://{}", server.address);
    for (method, path) in COSTLY {
        let preflight = server.preflight(method, path, &["authorization"], ALLOWED);
        assert_eq!(preflight.header("access-control-allow-origin"), Some(ALLOWED), "{path}");
        let preflight = server.preflight(method, path, &[], "https://evil.example");
        assert_eq!(preflight.header("access-control-allow-origin"), None, "{path}");
        for admitted in [
            String::new(),
            format!("Origin: {own}\r\n"),
            format!("Origin: {own}\r\nSec-Fetch-Site: same-origin\r\n"),
            "Sec-Fetch-Site: same-origin\r\n".to_owned(),
            format!("Origin: {ALLOWED}\r\nSec-Fetch-Site: cross-site\r\n"),
        ] {
            let answer = server.request(method, path, &admitted);
            assert_eq!(answer.status, 200, "{path} {admitted}: {}", answer.body);
        }
        for refused in [
            "Origin: https://evil.example\r\n",
            "Origin: null\r\n",
            "Origin: http://127.0.0.1:1\r\n",
            "Sec-Fetch-Site: cross-site\r\n",
            "Sec-Fetch-Site: same-site\r\n",
        ] {
            let answer = server.request(method, path, refused);
            assert_eq!(answer.status, 403, "{path} {refused}");
            assert_eq!(answer.header("access-control-allow-origin"), None, "{path} {refused}");
            let error = answer.json()["error"].as_str().expect("a sentence").to_owned();
            assert!(error.contains("--origin"), "{error}");
        }
    }
    // A foreign host name that resolves to this machine, as in DNS rebinding attacks.
    let rebound = server.send(
        "GET /analysis?seconds=1 HTTP/1.1\r\nHost: evil.example:9002\r\nConnection: close\r\n\r\n",
    );
    assert_eq!(rebound.status, 403);
}
