//! The order in which a tick checks its targets.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

use linklet_domain::{Host, TargetId};
use linklet_dynamodb::DueTarget;

/// The targets of a tick, which are checked in turns: one of each creator, then the next of each. Within the turns of a creator,
/// the workspaces take queue. So whoever has few targets notices nothing of somebody with many, and of a host only one is checked
/// at a time.
#[derive(Default)]
pub(crate) struct FairQueue {
    creators: VecDeque<Creator>,
    busy: HashSet<Host>,
}

/// The targets of a person's workspaces.
#[derive(Default)]
struct Creator(VecDeque<Workspace>);

/// The targets of a workspace.
#[derive(Default)]
struct Workspace(VecDeque<DueTarget>);

impl FairQueue {
    /// Divides targets. Who has one that comes first begins; otherwise the order of creators and of workspaces is random, so that
    /// each has the same chance where there is no time for all.
    pub(crate) fn of(targets: Vec<DueTarget>, first: &[TargetId]) -> Self {
        let first: HashSet<_> = first.iter().collect();
        let comes_first = |target: &DueTarget| first.contains(&target.id);
        let creators = grouped(targets, |target| target.workspace_creator).map(|targets| {
            let workspaces = grouped(targets, |target| target.workspace).map(|mut targets| {
                targets.sort_by_key(|target| !comes_first(target));
                Workspace(targets.into())
            });
            Creator(in_order(workspaces, |workspace| workspace.next().is_some_and(comes_first)))
        });
        let creators = in_order(creators, |creator| creator.next().is_some_and(comes_first));
        Self { creators, busy: HashSet::new() }
    }

    /// The next target whose host isn't busy. Its host is, until it is [free](Self::free) again.
    pub(crate) fn next(&mut self) -> Option<DueTarget> {
        let target = take_turn(&mut self.creators, |creator| creator.take(&self.busy))?;
        self.busy.insert(target.host.clone());
        Some(target)
    }

    /// Says that no target of a host is being checked any more.
    pub(crate) fn free(&mut self, host: &Host) {
        self.busy.remove(host);
    }

    /// The targets that have had no turn, in the order in which they would have had theirs.
    pub(crate) fn into_rest(mut self) -> Vec<DueTarget> {
        let nobody = HashSet::new();
        let mut rest = Vec::new();
        while let Some(target) = take_turn(&mut self.creators, |creator| creator.take(&nobody)) {
            rest.push(target);
        }
        rest
    }
}

impl Creator {
    fn next(&self) -> Option<&DueTarget> {
        self.0.front()?.next()
    }

    fn take(&mut self, busy: &HashSet<Host>) -> Option<DueTarget> {
        take_turn(&mut self.0, |workspace| workspace.take(busy))
    }
}

impl Workspace {
    fn next(&self) -> Option<&DueTarget> {
        self.0.front()
    }

    fn take(&mut self, busy: &HashSet<Host>) -> Option<DueTarget> {
        let place = self.0.iter().position(|target| !busy.contains(&target.host))?;
        self.0.remove(place)
    }
}

/// Takes a target from the first in a queue that has one to give, and puts that one at the end.
fn take_turn<Q>(queue: &mut VecDeque<Q>, take: impl FnMut(&mut Q) -> Option<DueTarget>) -> Option<DueTarget> {
    let (place, target) = queue.iter_mut().map(take).enumerate().find_map(|(place, taken)| Some((place, taken?)))?;
    let served = queue.remove(place)?;
    queue.push_back(served);
    Some(target)
}

/// In a random order, but that some come first.
fn in_order<Q>(queue: impl Iterator<Item = Q>, comes_first: impl Fn(&Q) -> bool) -> VecDeque<Q> {
    let mut queue: Vec<Q> = queue.collect();
    fastrand::shuffle(&mut queue);
    queue.sort_by_key(|one| !comes_first(one));
    queue.into()
}

fn grouped<K: Eq + Hash>(
    targets: Vec<DueTarget>,
    key: impl Fn(&DueTarget) -> K,
) -> impl Iterator<Item = Vec<DueTarget>> {
    let mut groups = HashMap::<K, Vec<DueTarget>>::new();
    for target in targets {
        groups.entry(key(&target)).or_default().push(target);
    }
    groups.into_values()
}

#[cfg(test)]
mod tests {
    use linklet_domain::{CanonicalUrl, TargetHealth, TargetStatus, TargetUrl, Timestamp, UserId, WorkspaceId};

    use super::*;

    fn due(creator: UserId, workspace: WorkspaceId, url: &str) -> DueTarget {
        let url = TargetUrl::parse(url).unwrap();
        let canonical = CanonicalUrl::of(&url).unwrap();
        DueTarget {
            id: TargetId::of(&workspace, &canonical),
            workspace,
            workspace_creator: creator,
            created_at: Timestamp::now(),
            host: canonical.host(),
            url,
            health: TargetHealth { status: TargetStatus::Up, failed_slot: None },
        }
    }

    /// So many targets of a workspace, at hosts of their own.
    fn of_workspace(creator: UserId, workspace: WorkspaceId, count: usize) -> Vec<DueTarget> {
        (0..count).map(|number| due(creator, workspace, &format!("https://{number}.{workspace}.example/"))).collect()
    }

    fn of_creator(workspaces: usize, targets: usize) -> (UserId, Vec<DueTarget>) {
        let creator = UserId::generate();
        let targets = (0..workspaces).flat_map(|_| of_workspace(creator, WorkspaceId::generate(), targets)).collect();
        (creator, targets)
    }

    fn taken(queue: &mut FairQueue, count: usize) -> Vec<DueTarget> {
        (0..count).map_while(|_| queue.next()).collect()
    }

    #[test]
    fn a_creator_with_few_targets_gets_all_checks_beside_twenty_full_workspaces() {
        let ((_, many), (few, three)) = (of_creator(20, 100), of_creator(1, 3));
        let mut queue = FairQueue::of([many, three].concat(), &[]);

        let checked = taken(&mut queue, 6);

        assert_eq!(checked.iter().filter(|target| target.workspace_creator == few).count(), 3);
        assert_eq!(queue.into_rest().len(), 2_003 - 6);
    }

    #[test]
    fn the_workspaces_of_a_creator_take_turns_as_well() {
        let (creator, small) = (UserId::generate(), WorkspaceId::generate());
        let large = of_workspace(creator, WorkspaceId::generate(), 900);
        let mut queue = FairQueue::of([large, of_workspace(creator, small, 3)].concat(), &[]);

        let checked = taken(&mut queue, 6);

        assert_eq!(checked.iter().filter(|target| target.workspace == small).count(), 3);
    }

    #[test]
    fn of_a_host_one_is_checked_at_a_time_whoever_wants_it() {
        let targets: Vec<_> = (0..3)
            .map(|number| {
                due(UserId::generate(), WorkspaceId::generate(), &format!("https://example.com:808{number}/"))
            })
            .chain([due(UserId::generate(), WorkspaceId::generate(), "https://example.org/")])
            .collect();
        let mut queue = FairQueue::of(targets, &[]);

        let mut hosts: Vec<_> = taken(&mut queue, 4).into_iter().map(|target| target.host.to_string()).collect();
        hosts.sort();

        assert_eq!(hosts, ["example.com", "example.org"]);
        queue.free(&Host::parse("example.com").unwrap());
        assert_eq!(queue.next().unwrap().host.as_str(), "example.com");
        assert!(queue.next().is_none());
        assert_eq!(queue.into_rest().len(), 1);
    }

    #[test]
    fn a_target_at_a_busy_host_costs_its_workspace_no_turn() {
        let (creator, workspace) = (UserId::generate(), WorkspaceId::generate());
        let at_busy = (0..9).map(|number| due(creator, workspace, &format!("https://busy.example/{number}")));
        let targets = at_busy.chain(of_workspace(creator, workspace, 2)).collect();
        let mut queue = FairQueue::of(targets, &[]);

        assert_eq!(taken(&mut queue, 11).len(), 3);
    }

    #[test]
    fn targets_left_over_come_first_but_not_before_other_creators_turns() {
        for _ in 0..20 {
            let ((greedy, many), (few, three)) = (of_creator(1, 60), of_creator(1, 3));
            let first: Vec<_> = many.iter().skip(10).take(50).map(|target| target.id.clone()).collect();
            let mut queue = FairQueue::of([many, three].concat(), &first);

            let checked = taken(&mut queue, 6);

            let of_greedy: Vec<_> = checked.iter().filter(|target| target.workspace_creator == greedy).collect();
            let expected = first.iter().take(3).collect::<Vec<_>>();
            assert_eq!(of_greedy.iter().map(|target| &target.id).collect::<Vec<_>>(), expected);
            assert_eq!((checked[0].workspace_creator, checked[1].workspace_creator), (greedy, few));
        }
    }

    #[test]
    fn where_there_is_no_time_for_all_nobody_is_always_the_last() {
        let all: Vec<_> = (0..5).flat_map(|_| of_creator(1, 1).1).collect();

        let first: HashSet<_> =
            (0..200).filter_map(|_| FairQueue::of(all.clone(), &[]).next()).map(|target| target.id).collect();

        assert_eq!(first.len(), 5);
    }
}
