//! How many checks a round may send.

use std::collections::HashMap;

use linklet_domain::{CheckInterval, Host, Phase};

/// How many checks one worker does in a second, and one host gets: an answer takes a quarter of a second, we assume. Where it
/// takes longer, some checks are sent that are left out later.
const CHECKS_PER_SECOND: usize = 4;

/// What a round may still send.
pub(crate) struct Allowance {
    room: usize,
    per_host: usize,
    sent: HashMap<Host, usize>,
}

/// Whether a target's check may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    Admitted,
    /// Its host has its share. Other targets may still be admitted.
    HeldBack,
    /// There is no room for anybody.
    NoRoom,
}

impl Allowance {
    /// What a round may send while so many messages are in the queue.
    ///
    /// It gets its phase's part of what the workers do within an interval, so that their number bounds how many checks there
    /// are, and no more than can begin before the round is over.
    ///
    /// A host's messages are worked on one after another, each when the one before it is done with. If they were more than its
    /// part, they would take the room of others and be over before their turn. Only when the queue is all but empty, so that
    /// hosts are known to be quick, each gets as many as it can begin within the interval.
    pub(crate) fn new(workers: u16, interval: CheckInterval, waiting: usize) -> Self {
        let (workers, phases) = (usize::from(workers), usize::from(Phase::COUNT));
        let of_one = usize::from(interval.seconds()) * CHECKS_PER_SECOND;
        let of_all = workers * of_one;
        Self {
            room: (of_all / phases).min(of_all.saturating_sub(waiting)),
            per_host: if waiting < workers { of_one } else { of_one / phases },
            sent: HashMap::new(),
        }
    }

    /// How many checks more may be sent.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Takes a place for a check at this host, if there is one.
    pub(crate) fn admit(&mut self, host: &Host) -> Admission {
        let of_host = self.sent.get(host).copied().unwrap_or_default();
        if of_host >= self.per_host {
            return Admission::HeldBack;
        }
        if self.room == 0 {
            return Admission::NoRoom;
        }
        self.room -= 1;
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
    fn what_waits_in_the_queue_takes_room_once_it_is_more_than_two_thirds() {
        for (waiting, room) in [(321, 159), (400, 80), (479, 1), (480, 0), (9_999, 0)] {
            let sent: usize = admitted(waiting, 20).into_iter().sum();
            assert_eq!(sent, room, "{waiting} waiting");
        }
    }

    #[test]
    fn a_host_gets_what_it_can_do_in_an_interval_if_nobody_waits_and_else_in_a_third() {
        assert_eq!(admitted(0, 4), [60, 60, 40, 0]);
        assert_eq!(admitted(7, 1), [60]);
        assert_eq!(admitted(8, 9), [20, 20, 20, 20, 20, 20, 20, 20, 0]);
    }

    #[test]
    fn without_room_a_host_with_its_share_is_told_from_others() {
        let mut allowance = Allowance::new(WORKERS, CheckInterval::from_seconds(15).unwrap(), 460);
        let greedy = host(0);
        assert!((0..20).all(|_| allowance.admit(&greedy) == Admission::Admitted));

        assert_eq!((allowance.room(), allowance.admit(&greedy)), (0, Admission::HeldBack));
        assert_eq!(allowance.admit(&host(1)), Admission::NoRoom);
    }
}
