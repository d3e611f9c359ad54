//! The number of checks that a round may send.

use std::collections::HashMap;

use linklet_domain::{CheckInterval, Host, Phase};

/// Assumed number of checks per second of one worker, and of one host: a check takes a quarter of a second. If checks take
/// longer, more are sent than can start in time, and the others are skipped.
const CHECKS_PER_SECOND: usize = 4;

/// The checks that a round may still send, in total and per host.
pub(crate) struct Allowance {
    capacity: usize,
    per_host: usize,
    sent: HashMap<Host, usize>,
}

/// Whether a target's check may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted,
    /// The target's host has reached its limit. Targets of other hosts may still be admitted.
    HeldBack,
    /// The round has reached its limit.
    NoCapacity,
}

impl Allowance {
    /// The allowance of a round, given the number of messages that wait in the queue of checks.
    ///
    /// A round may send its phase's share of the checks that all workers can make within an interval, but no more than can
    /// start before the round is over.
    ///
    /// The checks of a host run one after another. If a host had more than its phase's share, its messages would use capacity
    /// of other hosts, and be over before they could start. Only when the queue is nearly empty, so that hosts are known to
    /// answer quickly, a host may have as many as it can start within the interval.
    pub(crate) fn new(workers: u16, interval: CheckInterval, waiting: usize) -> Self {
        let (workers, phases) = (usize::from(workers), usize::from(Phase::COUNT));
        let of_one = usize::from(interval.seconds()) * CHECKS_PER_SECOND;
        let of_all = workers * of_one;
        Self {
            capacity: (of_all / phases).min(of_all.saturating_sub(waiting)),
            per_host: if waiting < workers { of_one } else { of_one / phases },
            sent: HashMap::new(),
        }
    }

    /// Number of checks that may still be sent.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Admits a check of this host, and uses up capacity for it, unless a limit is reached.
    pub(crate) fn admit(&mut self, host: &Host) -> Admission {
        let of_host = self.sent.get(host).copied().unwrap_or_default();
        if of_host >= self.per_host {
            return Admission::HeldBack;
        }
        if self.capacity == 0 {
            return Admission::NoCapacity;
        }
        self.capacity -= 1;
        self.sent.insert(host.clone(), of_host + 1);
        Admission::Admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKERS: u16 = 8;

    fn host(number: usize) -> Host {
        Host::parse(&format!("{number}.example")).unwrap()
    }

    /// How many checks a round may send to hosts that have more than enough targets.
    fn admitted(waiting: usize, hosts: usize) -> Vec<usize> {
        let mut allowance = Allowance::new(WORKERS, CheckInterval::from_seconds(15).unwrap(), waiting);
        let mut admit = |host: Host| (0..100).filter(|_| allowance.admit(&host) == Admission::Admitted).count();
        (0..hosts).map(|number| admit(host(number))).collect()
    }

    #[test]
    fn three_rounds_send_what_eight_workers_check_in_an_interval() {
        for waiting in [0, 8, 100, 320] {
            let sent: usize = admitted(waiting, 20).into_iter().sum();
            assert_eq!(sent * 3, 8 * 15 * 4, "{waiting} waiting");
        }
    }

    #[test]
    fn waiting_checks_reduce_the_capacity_once_they_are_more_than_two_thirds() {
        for (waiting, capacity) in [(321, 159), (400, 80), (479, 1), (480, 0), (9_999, 0)] {
            let sent: usize = admitted(waiting, 20).into_iter().sum();
            assert_eq!(sent, capacity, "{waiting} waiting");
        }
    }

    #[test]
    fn a_host_gets_a_whole_interval_of_checks_if_none_wait_and_else_a_third() {
        assert_eq!(admitted(0, 4), [60, 60, 40, 0]);
        assert_eq!(admitted(7, 1), [60]);
        assert_eq!(admitted(8, 9), [20, 20, 20, 20, 20, 20, 20, 20, 0]);
    }

    #[test]
    fn without_capacity_only_a_host_at_its_limit_is_held_back() {
        let mut allowance = Allowance::new(WORKERS, CheckInterval::from_seconds(15).unwrap(), 460);
        let greedy = host(0);
        assert!((0..20).all(|_| allowance.admit(&greedy) == Admission::Admitted));

        assert_eq!((allowance.capacity(), allowance.admit(&greedy)), (0, Admission::HeldBack));
        assert_eq!(allowance.admit(&host(1)), Admission::NoCapacity);
    }
}
