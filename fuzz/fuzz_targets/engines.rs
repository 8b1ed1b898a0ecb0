//! Reads arbitrary text as a TOML file that defines the engines of a tournament. The file is either
//! accepted or rejected with an error message.

#![no_main]

use tabia::autoplay::config::EngineConfig;
use tabia::autoplay::engine_file::read_engines;
use tabia_fuzz::{file, fuzz_target, seed};

fn seeds() -> [(&'static str, &'static str); 4] {
    [
        (
            "two",
            "[[engine]]\nname = 'a'\ncommand = \"toga2 -x 'a b'\"\nst = 0.5\n\n[[engine]]\ncommand = 'b'\ntc = '40/10:00+0.1'\nrestart = true\n",
        ),
        (
            "options",
            "[[engine]]\ncommand = 'b'\nprotocol = 'uci'\noptions = { Hash = 16, Style = 'x', Own = false }\nenv = { LANG = 'C' }\ninit = ['easy']\ndir = '/'\n",
        ),
        (
            "limits",
            "[[engine]]\ncommand = 'b'\ndepth = 4\nnodes = 100\nmargin-ms = 3\nponder = true\npace-ms = 5\n",
        ),
        ("wrong", "[[engine]]\ncommand = \"x 'y\"\nst = -1e300\ncolour = 1\n"),
    ]
}

fuzz_target!(init: seed(seeds()), |text: &str| {
    let path = file("engines.toml", text.as_bytes());
    match read_engines(&path, &EngineConfig::default()) {
        Ok(engines) => {
            let has_program = |engine: &EngineConfig| engine.command.first().is_some_and(|word| !word.is_empty());
            assert!(engines.iter().all(has_program), "{engines:?}");
            assert!(engines.iter().all(|engine| !engine.label().is_empty()), "{engines:?}");
        }
        Err(error) => assert!(error.to_string().starts_with("cannot read "), "{error}"),
    }
});
