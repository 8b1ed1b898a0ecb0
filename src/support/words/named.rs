//! Names for enum values.

/// Defines user-visible names for the values of an enum: the constants `ALL` and `NAMES`, the
/// method `name`, and conversions to and from text. The literal after the type describes what the
/// enum represents, for error messages.
macro_rules! named_values {
    ($vis:vis $type:ident, $what:literal: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All values, in the order in which they are listed to users.
            $vis const ALL: [Self; Self::NAMES.len()] = [$($type::$variant),+];
            /// The names of all values, in the same order as `ALL`.
            $vis const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Returns the name, as used in options, arguments and output.
            $vis const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::support::error::ParseError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let is_named = |value: &Self| value.name().eq_ignore_ascii_case(text.trim());
                Self::ALL.into_iter().find(is_named).ok_or_else(|| {
                    let names = Self::NAMES.join(", ");
                    let message = format!(concat!("unknown ", $what, " {:?}: expected one of {}"), text, names);
                    $crate::support::error::ParseError(message)
                })
            }
        }
    };
}

pub(crate) use named_values;
