//! Shows help on topics and commands, and suggests commands for mistyped ones.

use std::io;

use super::Console;
use super::commands::{CommandRow, TOPICS, Topic, all, find};
use super::text::failed;
use crate::cli::suggestion::did_you_mean;
use crate::engine::controller::Flow;

const COLUMN: usize = 32;

impl CommandRow {
    fn explain(&self) -> String {
        let usage = format!("{} {}", self.names[0], self.arguments);
        let others = match &self.names[1..] {
            [] => String::new(),
            others => format!(" (also: {})", others.join(", ")),
        };
        format!("{usage:COLUMN$}  {}{others}", self.help)
    }
}

impl Topic {
    fn outline(&self) -> String {
        let names: Vec<&str> = self.rows.iter().map(|row| row.names[0]).collect();
        format!("{:10}  {}: {}", self.name, self.purpose, names.join(", "))
    }
}

impl Console {
    pub(super) fn help(&mut self, name: &str) -> io::Result<Flow> {
        match name {
            "" => return self.outline(),
            "all" => {
                for row in all() {
                    self.print_text(&row.explain())?;
                }
                return Ok(Flow::Continue);
            }
            _ => {}
        }
        let (row, topic) = (find(name), TOPICS.iter().find(|topic| topic.name == name));
        if row.is_none() && topic.is_none() {
            let topics = TOPICS.iter().map(|topic| topic.name.to_owned());
            let names = all().flat_map(|row| row.names).map(|&name| name.to_owned());
            let hint = did_you_mean(name, names.chain(topics));
            return Err(failed(format!("there is no command {name}{hint}")));
        }
        if let Some(row) = row {
            self.print_text(&row.explain())?;
        }
        for row in topic.into_iter().flat_map(|topic| topic.rows) {
            if row.names[0] != name {
                self.print_text(&row.explain())?;
            }
        }
        Ok(Flow::Continue)
    }

    fn outline(&mut self) -> io::Result<Flow> {
        self.print_text(
            "`help TOPIC` explains the commands of a topic, `help COMMAND` one, `help all` all.\n",
        )?;
        for topic in TOPICS {
            self.print_text(&topic.outline())?;
        }
        self.print_text("\nAnything else is taken for a move: e4, Nf3, O-O, or e2e4, e7e8q.")
    }
}
