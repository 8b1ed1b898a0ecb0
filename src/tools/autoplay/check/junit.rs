//! Formats the results of a protocol check as a JUnit report, which build servers can display.

use std::fmt::Write;

use super::Outcome;
use crate::support::words::{visible, xml};

/// Formats the results as a JUnit report. `name` is the name of the test suite.
pub(crate) fn junit(name: &str, outcomes: &[Outcome]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|&one| wanted(one)).count();
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.duration.as_secs_f64()).sum();
    let name = quoted(name);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{name}\" \
         tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{seconds:.3}\">\n",
        outcomes.len(),
        count(|outcome| !outcome.findings.is_empty()),
        count(|outcome| outcome.skipped.is_some()),
    );
    for outcome in outcomes {
        // Writing to a string cannot fail.
        let _ = case(&mut out, &name, outcome);
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

fn case(out: &mut String, class: &str, outcome: &Outcome) -> std::fmt::Result {
    let Outcome { name, findings, notes, skipped, duration } = outcome;
    let (name, seconds) = (quoted(name), duration.as_secs_f64());
    writeln!(out, "<testcase classname=\"{class}\" name=\"{name}\" time=\"{seconds:.3}\">")?;
    if let Some(lack) = skipped {
        writeln!(out, "<skipped message=\"needs {}\"/>", quoted(lack))?;
    }
    // Report all findings as a single failure, because programs that read JUnit reports expect at
    // most one failure per test.
    if let Some(first) = findings.first() {
        let all: Vec<String> = findings.iter().map(ToString::to_string).collect();
        let (message, all) = (quoted(first.rule), xml(&all.join("\n\n")));
        writeln!(out, "<failure message=\"{message}\" type=\"protocol\">{all}</failure>")?;
    }
    if !notes.is_empty() {
        writeln!(out, "<system-out>{}</system-out>", quoted(&notes.join("; ")))?;
    }
    writeln!(out, "</testcase>")
}

fn quoted(text: &str) -> String {
    xml(&visible(text))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Finding;
    use super::*;

    #[test]
    fn report_has_every_test_and_escapes_output() {
        let outcome = |name, findings, skipped| Outcome {
            name,
            findings,
            notes: vec!["3 ms".to_owned()],
            skipped,
            duration: Duration::from_millis(1500),
        };
        let finding =
            Finding { sent: "go".to_owned(), came: "<\"\u{1b}&".to_owned(), rule: "a < b" };
        let outcomes = [
            outcome("one", vec![finding.clone(), finding], None),
            outcome("two", Vec::new(), Some("ping=1")),
            outcome("three", Vec::new(), None),
        ];
        let text = junit("x 'a&b'", &outcomes);
        assert!(
            text.contains(
                "<testsuite name=\"x 'a&amp;b'\" tests=\"3\" failures=\"1\" errors=\"0\" \
                 skipped=\"1\" time=\"4.500\">"
            ),
            "{text}"
        );
        assert_eq!(text.matches("<failure message=\"a &lt; b\" type=\"protocol\">").count(), 1);
        assert_eq!(text.matches("came: &lt;&quot;\\u{1b}&amp;\n").count(), 2, "{text}");
        assert!(text.contains("<skipped message=\"needs ping=1\"/>\n"), "{text}");
        assert_eq!(text.matches("</testcase>").count(), 3);
    }
}
