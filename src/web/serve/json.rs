//! Objects that several JSON responses contain.

pub(crate) use crate::chess::notation::NamedMove;
