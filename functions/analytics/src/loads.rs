//! Divides the links of a batch into loads, each of which is read and counted before others are begun.

use std::collections::BTreeMap;

use linklet_domain::{Day, LinkId};

use crate::batches::DayOfClicks;

/// The days of some links.
pub(crate) type Links = BTreeMap<LinkId, BTreeMap<Day, DayOfClicks>>;

/// How many days are read together, with the links' totals: as many as one call of DynamoDB reads, which is 100 items. When the
/// table is slow or throttles reads, those that have succeeded are put to use before others are begun.
const DAYS_OF_A_LOAD: usize = 50;

/// Puts links together that are loaded together, in a random order: when time is up, it must not always be the same links whose
/// messages come again.
pub(crate) fn in_loads(links: Links) -> Vec<Links> {
    let (mut loads, mut days) = (Vec::<Links>::new(), DAYS_OF_A_LOAD);
    for (link, of_link) in links {
        days += of_link.len();
        if days > DAYS_OF_A_LOAD {
            loads.push(Links::new());
            days = of_link.len();
        }
        loads.last_mut().map(|load| load.insert(link, of_link));
    }
    fastrand::shuffle(&mut loads);
    loads
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, time::Duration};

    use linklet_domain::{Timestamp, WorkspaceId};

    use super::*;

    fn ids(number: usize) -> Vec<LinkId> {
        (0..number).map(|number| LinkId::parse(&format!("code{number:03}.x7Kf2a")).unwrap()).collect()
    }

    fn with_days(ids: &[LinkId], days_each: u64) -> Links {
        let (workspace, now) = (WorkspaceId::generate(), Timestamp::now());
        let empty = |link: &LinkId, day| DayOfClicks { link: link.clone(), workspace, day, clicks: BTreeMap::new() };
        let days = || (0..days_each).map(|number| now.plus(Duration::from_hours(24 * number)).day());
        ids.iter().map(|id| (id.clone(), days().map(|day| (day, empty(id, day))).collect())).collect()
    }

    #[test]
    fn each_link_is_in_one_load_that_one_call_can_read() {
        let mut links = ids(120);

        let loads = in_loads(with_days(&links, 3));

        assert!(loads.iter().all(|load| load.values().map(BTreeMap::len).sum::<usize>() <= DAYS_OF_A_LOAD));
        assert_eq!(loads.len(), 120_usize.div_ceil(DAYS_OF_A_LOAD / 3));
        let mut loaded: Vec<_> = loads.into_iter().flat_map(BTreeMap::into_keys).collect();
        loaded.sort_unstable();
        links.sort_unstable();
        assert_eq!(loaded, links);
    }

    #[test]
    fn a_link_of_many_days_is_a_load_of_its_own() {
        assert_eq!(in_loads(with_days(&ids(2), 60)).len(), 2);
    }

    #[test]
    fn other_links_come_first_each_time() {
        let links = ids(500);

        let first: HashSet<LinkId> =
            (0..50).filter_map(|_| in_loads(with_days(&links, 1)).first()?.keys().next().cloned()).collect();

        assert!(first.len() > 1, "{first:?} came first 50 times, of ten loads");
    }
}
