//! Which usage rows count: a bit for each, because a session may have a million of them.

/// Some of the rows of `Facts::usage`, by their places.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    words: Box<[u64]>,
    len: u64,
}

impl Rows {
    /// None of so many rows.
    pub fn none_of(rows: usize) -> Rows {
        Rows { words: vec![0; rows.div_ceil(64)].into(), len: 0 }
    }

    /// Adds a row; one beyond those that there are is none.
    pub fn insert(&mut self, row: u32) {
        if let Some(word) = self.words.get_mut(row as usize / 64) {
            let bit = 1 << (row % 64);
            self.len += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).zip(&self.words).flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(place * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn rows_come_back_in_order_and_once() {
        let mut rows = Rows::none_of(131);
        [130, 0, 63, 64, 0, 200].into_iter().for_each(|row| rows.insert(row));
        assert_eq!(rows.iter().collect::<Vec<_>>(), [0, 63, 64, 130]);
        assert_eq!((rows.len(), rows.is_empty(), Rows::none_of(0).is_empty()), (4, false, true));
    }
}
