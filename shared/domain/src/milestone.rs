/// The milestones (10, 100, 1,000, … clicks) that are greater than `before` and at most `after`, in ascending order.
pub fn milestones_crossed(before: u64, after: u64) -> impl Iterator<Item = u64> {
    (1..=u32::from(u8::MAX))
        .map_while(|exponent| 10_u64.checked_pow(exponent))
        .skip_while(move |milestone| *milestone <= before)
        .take_while(move |milestone| *milestone <= after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::milestones_crossed;

    fn crossed(before: u64, after: u64) -> Vec<u64> {
        milestones_crossed(before, after).collect()
    }

    #[test]
    fn reaching_a_milestone_crosses_it_once() {
        assert_eq!(crossed(9, 10), [10]);
        assert!(crossed(10, 11).is_empty());
        assert!(crossed(0, 9).is_empty());
    }

    #[test]
    fn a_burst_crosses_every_milestone_in_order() {
        assert_eq!(crossed(3, 1_500), [10, 100, 1_000]);
        assert_eq!(crossed(0, u64::MAX).len(), 19);
    }

    proptest! {
        #[test]
        fn steps_cross_what_the_whole_way_crosses(mut stops in proptest::collection::vec(0_u64..2_000_000, 2..20)) {
            stops.sort_unstable();
            let whole = crossed(stops[0], stops[stops.len() - 1]);

            let in_steps: Vec<u64> = stops.windows(2).flat_map(|step| crossed(step[0], step[1])).collect();

            prop_assert_eq!(in_steps, whole);
        }
    }
}
