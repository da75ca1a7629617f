//! Figures that say what they count.
