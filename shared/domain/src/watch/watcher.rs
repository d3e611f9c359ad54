use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Whether a link watches its target, and since when: what is stored, and also what a message about the link says.
///
/// Messages come more than once and in any order. [`Self::merged`] gives the same watcher for each order of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watcher {
    /// Whether the link watches.
    #[serde(rename = "link_state")]
    pub state: WatcherState,
    /// When that happened to the link.
    pub changed_at: Timestamp,
}

/// Whether a link watches its target. Of two states from one moment, the greater one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum WatcherState {
    /// The link watches.
    Watching,
    /// The link doesn't watch, and may watch again: it has expired.
    Paused,
    /// The link was removed, and never watches again.
    Ended,
}

impl Watcher {
    /// The watcher that is known after a message: the later of the two, except that nothing follows an end.
    #[must_use]
    pub fn merged(self, message: Self) -> Self {
        let rank = |watcher: &Self| (watcher.state == WatcherState::Ended, watcher.changed_at, watcher.state);
        if rank(&message) > rank(&self) { message } else { self }
    }

    /// Whether the link watches.
    pub fn is_watching(self) -> bool {
        self.state == WatcherState::Watching
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn watcher(state: WatcherState, second: u64) -> Watcher {
        let changed_at = Timestamp::parse("2026-03-02T12:00:00Z").unwrap().plus(Duration::from_secs(second));
        Watcher { state, changed_at }
    }

    fn any_watcher() -> impl Strategy<Value = Watcher> {
        let states = [WatcherState::Watching, WatcherState::Paused, WatcherState::Ended];
        (prop::sample::select(states.to_vec()), 0..4_u64).prop_map(|(state, second)| watcher(state, second))
    }

    #[test]
    fn the_later_of_pause_and_resumption_wins_and_a_tie_pauses() {
        let (watching, paused) = (WatcherState::Watching, WatcherState::Paused);

        for (known, message, expected) in [
            (watcher(watching, 1), watcher(paused, 2), paused),
            (watcher(watching, 2), watcher(paused, 1), watching),
            (watcher(watching, 2), watcher(paused, 2), paused),
            (watcher(paused, 2), watcher(watching, 3), watching),
            (watcher(paused, 2), watcher(watching, 2), paused),
            (watcher(paused, 2), watcher(watching, 1), paused),
        ] {
            assert_eq!(known.merged(message).state, expected, "{known:?} {message:?}");
        }
    }

    #[test]
    fn nothing_follows_an_end_whatever_the_times_say() {
        let ended = watcher(WatcherState::Ended, 1);

        for message in [watcher(WatcherState::Watching, 3), watcher(WatcherState::Paused, 3)] {
            assert_eq!((ended.merged(message), message.merged(ended)), (ended, ended));
        }
    }

    proptest! {
        #[test]
        fn messages_give_the_same_watcher_in_each_order_and_however_often(
            messages in prop::collection::vec(any_watcher(), 1..6),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let merged = |messages: &[Watcher]| messages.iter().copied().reduce(Watcher::merged);
            let mut shuffled: Vec<_> = order.iter().map(|index| *index.get(&messages)).collect();
            shuffled.extend(messages.iter().rev());

            prop_assert_eq!(merged(&shuffled), merged(&messages));
        }
    }
}
