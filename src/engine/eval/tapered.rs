//! A middlegame value and an endgame value in one integer.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A middlegame value in the lower 16 bits and an endgame value in the upper 16 bits, both in
/// centipawns. A single integer addition adds both. Each value must fit in an `i16`.
///
/// Source: <https://www.chessprogramming.org/Tapered_Eval>.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct Tapered(i32);

/// Short name for [`Tapered::new`], used in tables of weights.
pub(super) const fn s(middlegame: i32, endgame: i32) -> Tapered {
    Tapered::new(middlegame, endgame)
}

impl Tapered {
    pub(crate) const ZERO: Tapered = Tapered(0);

    #[inline]
    pub(crate) const fn new(middlegame: i32, endgame: i32) -> Self {
        Tapered((endgame << 16) + middlegame)
    }

    #[inline]
    pub(crate) const fn middlegame(self) -> i32 {
        self.0 as i16 as i32
    }

    #[inline]
    pub(crate) const fn endgame(self) -> i32 {
        // A negative middlegame value has borrowed one from the upper half. Adding 0x8000 gives it
        // back.
        ((self.0 + 0x8000) >> 16) as i16 as i32
    }
}

impl fmt::Debug for Tapered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s({}, {})", self.middlegame(), self.endgame())
    }
}

impl Add for Tapered {
    type Output = Tapered;
    #[inline]
    fn add(self, other: Tapered) -> Tapered {
        Tapered(self.0.wrapping_add(other.0))
    }
}

impl Sub for Tapered {
    type Output = Tapered;
    #[inline]
    fn sub(self, other: Tapered) -> Tapered {
        Tapered(self.0.wrapping_sub(other.0))
    }
}

impl Mul<i32> for Tapered {
    type Output = Tapered;
    #[inline]
    fn mul(self, factor: i32) -> Tapered {
        Tapered(self.0.wrapping_mul(factor))
    }
}

impl Neg for Tapered {
    type Output = Tapered;
    #[inline]
    fn neg(self) -> Tapered {
        Tapered(self.0.wrapping_neg())
    }
}

impl AddAssign for Tapered {
    #[inline]
    fn add_assign(&mut self, other: Tapered) {
        *self = *self + other;
    }
}

impl SubAssign for Tapered {
    #[inline]
    fn sub_assign(&mut self, other: Tapered) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn middlegame_and_endgame_are_computed_independently(a in -1000..1000, b in -1000..1000, c in -1000..1000,
                                          d in -1000..1000, n in -30..30) {
            let sum = s(a, b) + s(c, d) * n - s(d, c);
            prop_assert_eq!(sum.middlegame(), a + c * n - d);
            prop_assert_eq!(sum.endgame(), b + d * n - c);
            prop_assert_eq!(-sum + sum, Tapered::ZERO);
        }
    }
}
