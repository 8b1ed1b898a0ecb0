//! Reads and writes explicit trees as indented lists.
//!
//! ```text
//! # a comment
//! root max
//!   left 3
//!   right
//!     a 5
//!     b -2
//! ```

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{GameTree, MAX_DEPTH, MAX_NODES, MAX_VALUE, NodeId};
use crate::chess::score::Score;

/// An error in the text of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {fault}")]
pub struct TreeError {
    /// The 1-based line number.
    pub line: usize,
    /// A message that describes the error in the line and, in most cases, how to fix it.
    pub fault: String,
}

/// A node on the path from the root to the last node read, with the indentation of its line in
/// spaces.
struct Open {
    node: NodeId,
    indent: usize,
}

struct TreeReader {
    tree: GameTree,
    /// The path from the root to the last node read. Only these nodes can get more children.
    open: Vec<Open>,
    lines: HashMap<String, usize>,
    line_of: Vec<usize>,
}

impl FromStr for GameTree {
    type Err = TreeError;

    fn from_str(text: &str) -> Result<Self, TreeError> {
        let mut reader = TreeReader {
            tree: GameTree { nodes: Vec::new(), max_begins: true },
            open: Vec::new(),
            lines: HashMap::new(),
            line_of: Vec::new(),
        };
        for (index, text) in text.lines().enumerate() {
            let content = text.split('#').next().unwrap_or_default().trim_end();
            if !content.trim().is_empty() {
                let line = index + 1;
                reader.read(content, line).map_err(|fault| TreeError { line, fault })?;
            }
        }
        reader.finish(text.lines().count())
    }
}

impl TreeReader {
    fn read(&mut self, content: &str, line: usize) -> Result<(), String> {
        let words: Vec<&str> = content.split_whitespace().collect();
        let indent = content.len() - content.trim_start_matches(' ').len();
        if content[indent..].starts_with(char::is_whitespace) {
            return Err("indented with something else than blanks; use blanks alone".to_owned());
        }
        let name = words[0];
        if let Some(first) = self.lines.insert(name.to_owned(), line) {
            return Err(format!("{name} was there in line {first} already; give it another name"));
        }
        if self.tree.nodes.len() >= MAX_NODES {
            return Err(format!("more than {MAX_NODES} nodes; make the tree smaller"));
        }
        let parent = self.parent(name, indent)?;
        let node = self.tree.push(name.to_owned(), parent);
        self.line_of.push(line);
        if self.tree.nodes[node].depth > MAX_DEPTH {
            return Err(format!("{name} lies more than {MAX_DEPTH} levels below the root"));
        }
        self.open.push(Open { node, indent });
        match (words.get(1), parent) {
            (None, _) => {}
            (Some(&"max"), None) => {}
            (Some(&"min"), None) => self.tree.max_begins = false,
            (Some(word), _) => self.tree.nodes[node].value = Some(value(name, word)?),
        }
        match words.get(2) {
            Some(word) => Err(format!("`{word}` is too much; a line is NAME, or NAME VALUE")),
            None => Ok(()),
        }
    }

    /// Returns the parent of a node with the given indentation, or `None` for the root. Removes
    /// nodes from `open` that can have no more children.
    fn parent(&mut self, name: &str, indent: usize) -> Result<Option<NodeId>, String> {
        if self.tree.nodes.is_empty() {
            return match indent {
                0 => Ok(None),
                _ => Err("the root is indented; let it begin the line".to_owned()),
            };
        }
        let mut last = indent;
        while let Some(open) = self.open.last()
            && open.indent >= indent
        {
            last = open.indent;
            self.open.pop();
        }
        let Some(parent) = self.open.last().map(|open| open.node) else {
            return Err(format!("{name} is a second root; indent it below another node"));
        };
        if last != indent {
            return Err(format!(
                "{name} is indented by {indent} blanks, its siblings are not; align them"
            ));
        }
        let node = &self.tree.nodes[parent];
        match node.value {
            Some(value) => Err(format!(
                "{name} lies below {}, which is a leaf of value {value}; take one of them away",
                node.name
            )),
            None => Ok(Some(parent)),
        }
    }

    fn finish(self, lines: usize) -> Result<GameTree, TreeError> {
        let nodes = &self.tree.nodes;
        if nodes.is_empty() {
            let fault = "there is no node; the first line is the root, like `N0 max`".to_owned();
            return Err(TreeError { line: lines.max(1), fault });
        }
        let bare = nodes.iter().position(|node| node.children.is_empty() && node.value.is_none());
        if let Some(node) = bare {
            let name = &nodes[node].name;
            let fault = format!(
                "{name} has neither children nor a value; write `{name} 3`, or indent nodes below it"
            );
            return Err(TreeError { line: self.line_of[node], fault });
        }
        Ok(self.tree)
    }
}

fn value(name: &str, word: &str) -> Result<Score, String> {
    match word.parse::<Score>() {
        Ok(value) if (-MAX_VALUE..=MAX_VALUE).contains(&value) => Ok(value),
        Ok(value) => Err(format!("{name}: {value} must lie within ±{MAX_VALUE}")),
        Err(_) if matches!(word, "max" | "min") => {
            Err(format!("{name}: only the root says `{word}`; the players take turns"))
        }
        Err(_) => Err(format!("{name}: `{word}` is no whole number")),
    }
}

impl fmt::Display for GameTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.nodes {
            write!(f, "{:indent$}{}", "", node.name, indent = 2 * node.depth)?;
            match (node.value, node.parent) {
                (Some(value), _) => writeln!(f, " {value}")?,
                (None, None) => writeln!(f, " {}", if self.max_begins { "max" } else { "min" })?,
                (None, Some(_)) => writeln!(f)?,
            }
        }
        Ok(())
    }
}
