/// Formats a number with a comma between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the singular or plural of a noun, depending on the number before it: `game` after 1, and
/// `games` otherwise.
pub(crate) fn plural(number: u64, singular: &str) -> String {
    if number == 1 {
        return singular.to_owned();
    }
    match singular.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if singular.ends_with(['s', 'x', 'h']) => format!("{singular}es"),
        _ => format!("{singular}s"),
    }
}

/// Formats a number and a noun for protocols, without commas: `1 game`, `1200 games`.
pub(crate) fn number_of(number: u64, singular: &str) -> String {
    format!("{number} {}", plural(number, singular))
}

/// Formats a number and a noun for human readers, with commas: `1 game`, `1,200 games`.
pub(crate) fn counted(number: u64, singular: &str) -> String {
    format!("{} {}", grouped(number), plural(number, singular))
}

/// Formats a fraction from 0 to 1 as an integer percentage, such as `54%`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// Prepares a number for formatting with `decimals` decimals. Numbers that round to zero become
/// 0.0, so that -0.04 is not shown as `-0.0`.
pub(crate) fn rounded(figure: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    // Adding zero turns -0.0 into 0.0 and changes no other number.
    if (figure * scale).abs() < 0.5 { 0.0 } else { figure + 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nouns_are_pluralised_by_their_number() {
        for (number, singular, text) in [
            (1, "game", "1 game"),
            (0, "game", "0 games"),
            (2, "ply", "2 plies"),
            (1, "ply", "1 ply"),
            (12, "day", "12 days"),
            (1_234_567, "match", "1,234,567 matches"),
            (1_000, "loss", "1,000 losses"),
        ] {
            assert_eq!(counted(number, singular), text);
        }
    }

    proptest! {
        #[test]
        fn rounding_never_gives_negative_zero(figure in -3.0..3.0_f64, decimals in 0..4_i32) {
            let places = decimals as usize;
            let text = format!("{:+.places$}", rounded(figure, decimals));
            let is_zero = text.bytes().all(|byte| matches!(byte, b'+' | b'-' | b'0' | b'.'));
            prop_assert!(!is_zero || text.starts_with('+'), "{figure}: {text}");
            prop_assert!((text.parse::<f64>().expect("a number") - figure).abs() <= 0.51 * 10_f64.powi(-decimals));
        }
    }
}
