//! Shares the checks of a round among workspaces.

use std::{
    collections::{HashMap, VecDeque},
    mem,
};

use linklet_domain::WorkspaceId;
use linklet_dynamodb::DueTarget;

use crate::{
    allowance::{Admission, Allowance},
    walk::LeftOut,
};

/// The targets that a round has read, which are admitted in turns: one of each workspace, then the next of each, until the
/// allowance is used up. So each workspace gets all its checks or as many as any other, but for one.
#[derive(Default)]
pub(crate) struct Turns {
    /// The targets of each workspace, in the order in which they were read.
    queues: Vec<VecDeque<DueTarget>>,
    /// The place of each workspace's queue.
    places: HashMap<WorkspaceId, usize>,
}

impl Turns {
    /// Adds a target behind the others of its workspace.
    pub(crate) fn add(&mut self, target: DueTarget) {
        let place = *self.places.entry(target.workspace).or_insert(self.queues.len());
        if place == self.queues.len() {
            self.queues.push(VecDeque::new());
        }
        if let Some(queue) = self.queues.get_mut(place) {
            queue.push_back(target);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Returns the targets whose checks may be sent, and forgets all. The workspace at this place, counted round and round,
    /// begins: with less capacity than workspaces, a random place gives each the same chance.
    pub(crate) fn admit(&mut self, first: u128, allowance: &mut Allowance, left_out: &mut LeftOut) -> Vec<DueTarget> {
        self.places.clear();
        let mut queues = VecDeque::from(mem::take(&mut self.queues));
        let first = first % queues.len().max(1) as u128;
        queues.rotate_left(usize::try_from(first).unwrap_or_default());
        let mut admitted = Vec::new();
        while let Some(mut queue) = queues.pop_front() {
            if let Some(target) = next_admitted(&mut queue, allowance, left_out) {
                admitted.push(target);
                queues.push_back(queue);
            }
        }
        admitted
    }
}

/// The next target of a workspace whose check may be sent. A target of a host that has its share costs the workspace no turn.
fn next_admitted(
    queue: &mut VecDeque<DueTarget>,
    allowance: &mut Allowance,
    left_out: &mut LeftOut,
) -> Option<DueTarget> {
    while let Some(target) = queue.pop_front() {
        match allowance.admit(&target.host) {
            Admission::Admitted => return Some(target),
            Admission::HeldBack => left_out.held_back += 1,
            Admission::NoCapacity => left_out.others = true,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use linklet_domain::{CanonicalUrl, CheckInterval, TargetId, TargetStatus, TargetUrl};

    use super::*;

    /// Room for so many checks, of one host at most 13.
    fn room_for(checks: usize) -> Allowance {
        Allowance::new(3, CheckInterval::from_seconds(10).unwrap(), 120 - checks)
    }

    fn due(workspace: &WorkspaceId, url: &str) -> DueTarget {
        let url = TargetUrl::parse(url).unwrap();
        let canonical = CanonicalUrl::of(&url).unwrap();
        DueTarget {
            id: TargetId::of(workspace, &canonical),
            workspace: *workspace,
            host: canonical.host(),
            url,
            status: TargetStatus::Up,
        }
    }

    /// Targets of workspaces, so many of each, at hosts of their own.
    fn turns_of(targets: &[(&WorkspaceId, usize)]) -> Turns {
        let mut turns = Turns::default();
        for (workspace, count) in targets {
            for number in 0..*count {
                turns.add(due(workspace, &format!("https://{number}.{workspace}.example/")));
            }
        }
        turns
    }

    /// How many checks each workspace gets, and whether some were left out.
    fn shares(targets: &[usize], room: usize, first: u128) -> (Vec<usize>, bool) {
        let workspaces: Vec<_> = targets.iter().map(|_| WorkspaceId::generate()).collect();
        let targets: Vec<_> = workspaces.iter().zip(targets.iter().copied()).collect();
        let mut left_out = LeftOut::default();
        let admitted = turns_of(&targets).admit(first, &mut room_for(room), &mut left_out);
        let of = |workspace: &WorkspaceId| admitted.iter().filter(|target| target.workspace == *workspace).count();
        (workspaces.iter().map(of).collect(), left_out.others)
    }

    #[test]
    fn who_wants_less_than_a_fair_share_gets_all_and_the_others_share_the_rest() {
        assert_eq!(shares(&[90, 5], 10, 0), (vec![5, 5], true));
        assert_eq!(shares(&[90, 2, 30], 12, 0), (vec![5, 2, 5], true));
        assert_eq!(shares(&[20, 2], 30, 0), (vec![20, 2], false));
        assert_eq!(shares(&[3, 2], 5, 0), (vec![3, 2], false));
        assert_eq!(shares(&[], 5, 7), (vec![], false));
    }

    #[test]
    fn with_less_room_than_workspaces_the_place_decides_who_begins() {
        for (first, expected) in [(0, [1, 1, 0]), (1, [0, 1, 1]), (2, [1, 0, 1]), (3, [1, 1, 0])] {
            assert_eq!(shares(&[9, 9, 9], 2, first), (expected.to_vec(), true), "{first}");
        }
    }

    #[test]
    fn targets_of_a_host_with_its_share_cost_no_turn_and_are_counted() {
        let (ada, bob) = (WorkspaceId::generate(), WorkspaceId::generate());
        let mut turns = turns_of(&[(&bob, 9)]);
        for number in 0..30 {
            turns.add(due(&ada, &format!("https://many.example/{number}")));
        }
        for number in 0..3 {
            turns.add(due(&ada, &format!("https://{number}.example/")));
        }
        let (mut allowance, mut left_out) = (room_for(40), LeftOut::default());

        let admitted = turns.admit(0, &mut allowance, &mut left_out);

        let of_many = admitted.iter().filter(|target| target.host.as_str() == "many.example").count();
        assert_eq!((admitted.len(), of_many), (9 + 13 + 3, 13));
        assert_eq!((left_out.held_back, left_out.others), (17, false));
    }

    #[test]
    fn a_workspaces_targets_keep_the_order_in_which_they_were_read() {
        let ada = WorkspaceId::generate();
        let mut turns = turns_of(&[(&ada, 20)]);

        let admitted = turns.admit(5, &mut room_for(4), &mut LeftOut::default());

        let numbers: Vec<_> = admitted.iter().map(|target| target.url.as_str().chars().nth(8).unwrap()).collect();
        assert_eq!(numbers, ['0', '1', '2', '3']);
        assert!(turns.is_empty());
    }
}
