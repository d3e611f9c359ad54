//! A bound of what is read.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes may be read, by several readers together.
#[derive(Debug)]
pub struct ByteBudget(AtomicUsize);

impl ByteBudget {
    /// What DynamoDB reads at most to answer a query.
    const ANSWER: usize = 1 << 20;

    /// A budget of so many bytes.
    pub fn of(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Takes what an answer may have. Returns whether there was as much left, since only then the answer may be read.
    pub(crate) fn take(&self) -> bool {
        self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(Self::ANSWER)).is_ok()
    }

    /// Gives back what an answer of so many bytes has left.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.0.fetch_add(Self::ANSWER.saturating_sub(bytes), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_take_no_more_together_than_there_is() {
        let budget = ByteBudget::of(2 * ByteBudget::ANSWER + 1);

        assert_eq!([budget.take(), budget.take(), budget.take()], [true, true, false]);
        budget.give_back(ByteBudget::ANSWER / 2);
        assert!(!budget.take());
        budget.give_back(ByteBudget::ANSWER / 2);
        assert!(budget.take());
    }
}
