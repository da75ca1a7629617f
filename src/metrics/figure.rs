//! Numbers that know what they count. A stock is what is there at one moment (tokens in the context window), a flow what
//! went through over a stretch of time (tokens sent by all requests). Dividing one by the other gives a number that means
//! nothing and looks like a rate: the tokens read from the cache by three requests over the prompt of the last one is
//! 186 %, and nobody notices as long as it stays below 100 %.
//!
//! So the two are types, and a ratio can only be made of two of a kind:
//!
//! ```
//! use sid_audit::metrics::figure::{Flow, Stock};
//! let read = Flow::new(61_888);
//! assert_eq!(read.of(Flow::new(100_381)).unwrap().percent(), "61.7 %");
//! assert_eq!(Stock::new(1).of(Stock::new(4)).unwrap().value(), 0.25);
//! ```
//!
//! A flow of a stock does not compile:
//!
//! ```compile_fail
//! use sid_audit::metrics::figure::{Flow, Stock};
//! let _ = Flow::new(61_888).of(Stock::new(33_275));
//! ```
//!
//! nor the other way round, nor a bare division, nor a sum of the two:
//!
//! ```compile_fail
//! use sid_audit::metrics::figure::{Flow, Stock};
//! let _ = Stock::new(33_275).of(Flow::new(61_888));
//! ```
//! ```compile_fail
//! use sid_audit::metrics::figure::{Flow, Stock};
//! let _ = Flow::new(61_888) / Stock::new(33_275);
//! ```
//! ```compile_fail
//! use sid_audit::metrics::figure::{Flow, Stock};
//! let _ = Flow::new(61_888) + Stock::new(33_275);
//! ```
//!
//! [`Mixed`] is what such a division would have given, for the finding that says so; it is no [`Ratio`] and stands in no
//! report as one.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// What is there at one moment. The unit is that of the field that holds it: tokens, entries, files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stock(u64);

/// What went through over a stretch of time. The unit is that of the field that holds it: tokens, requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Flow(u64);

/// Of what kind the two numbers of a ratio are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Both are stocks.
    Stock,
    /// Both are flows.
    Flow,
}

impl Kind {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stock => "stock",
            Kind::Flow => "flow",
        }
    }
}

/// A part of a whole, both of one kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// The part.
    pub numerator: u64,
    /// The whole; never 0.
    pub denominator: u64,
    /// What both are.
    pub kind: Kind,
}

impl Ratio {
    fn new(part: u64, whole: u64, kind: Kind) -> Option<Ratio> {
        (whole > 0).then_some(Ratio { numerator: part, denominator: whole, kind })
    }

    /// The share, 1 for all of it.
    pub fn value(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The share for a person.
    pub fn percent(&self) -> String {
        percent(self.value())
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p >= 99.95 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// What dividing a flow by a stock would give: a number without a meaning, kept to be shown as such.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mixed {
    /// The flow above.
    pub flow: Flow,
    /// The stock below; never 0.
    pub stock: Stock,
}

impl Mixed {
    /// The mixture, none where there is nothing to divide by.
    pub fn new(flow: Flow, stock: Stock) -> Option<Mixed> {
        (stock.0 > 0).then_some(Mixed { flow, stock })
    }

    /// The number that means nothing.
    pub fn value(&self) -> f64 {
        self.flow.0 as f64 / self.stock.0 as f64
    }

    /// The same for a person.
    pub fn percent(&self) -> String {
        percent(self.value())
    }
}

macro_rules! counted {
    ($name:ident, $kind:expr) => {
        impl $name {
            /// So many.
            pub const fn new(count: u64) -> Self {
                $name(count)
            }

            /// The number.
            pub const fn get(self) -> u64 {
                self.0
            }

            /// Its share of a whole of the same kind; none of an empty whole.
            pub fn of(self, whole: Self) -> Option<Ratio> {
                Ratio::new(self.0, whole.0, $kind)
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                $name(self.0.saturating_add(other.0))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                all.fold($name(0), Add::add)
            }
        }
    };
}

counted!(Stock, Kind::Stock);
counted!(Flow, Kind::Flow);

/// An amount of money in billionths of a dollar: whole numbers, so that a sum does not depend on its order, as sums of
/// doubles do, and two methods of counting can be compared to the last digit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cost(u64);

impl Cost {
    /// So many billionths of a dollar.
    pub const fn from_nano(nano: u64) -> Self {
        Cost(nano)
    }

    /// Billionths of a dollar.
    pub const fn nano(self) -> u64 {
        self.0
    }

    /// Dollars.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// What is left of it without a part, 0 when the part is larger.
    #[must_use]
    pub fn without(self, part: Cost) -> Cost {
        Cost(self.0.saturating_sub(part.0))
    }

    /// Whether both are the same amount for all that doubles can tell: agents add costs up in doubles.
    pub fn is_about(self, other: Cost) -> bool {
        self.0.abs_diff(other.0) <= 1_000.max(self.0.max(other.0) / 1_000_000)
    }
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Cost(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Cost(0), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_one_kind() {
        let hit = Flow::new(61_888).of(Flow::new(100_381)).unwrap();
        assert_eq!((hit.percent().as_str(), hit.kind.name()), ("61.7 %", "flow"));
        assert_eq!(Flow::new(1).of(Flow::new(0)), None);
        let wrong = Mixed::new(Flow::new(61_888), Stock::new(33_275)).unwrap();
        assert_eq!(wrong.percent(), "186 %");
        assert_eq!(Mixed::new(Flow::new(444), Stock::new(100)).unwrap().percent(), "444 %");
        assert_eq!(Mixed::new(Flow::new(1), Stock::new(0)), None);
    }

    #[test]
    fn sums_do_not_overflow() {
        let all: Flow = [Flow::new(u64::MAX), Flow::new(1)].into_iter().sum();
        assert_eq!(all.get(), u64::MAX);
        assert!(Cost::from_nano(36_600_000).is_about(Cost::from_nano(36_600_001)));
        assert!(!Cost::from_nano(500_000_000).is_about(Cost::from_nano(46_600_000)));
    }
}
