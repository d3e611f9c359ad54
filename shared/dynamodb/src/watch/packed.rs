//! How results are stored: many in one attribute, 14 bytes each.

use std::time::Duration;

use linklet_domain::{CheckError, CheckOutcome, CheckResult, TargetMark, Timestamp};

/// Number of bytes of a result: the target's mark, when within the tick it was checked, the outcome, the latency.
const LENGTH: usize = 8 + 2 + 2 + 2;

/// Packs results of a tick. Times and latencies are milliseconds, of which there is room for 65 seconds.
pub(super) fn pack<'a>(slot: Timestamp, results: impl Iterator<Item = (TargetMark, &'a CheckResult)>) -> Vec<u8> {
    let short = |milliseconds| u16::try_from(milliseconds).unwrap_or(u16::MAX);
    results
        .flat_map(|(mark, result)| {
            let numbers = [
                short(slot.until(result.checked_at).as_millis()),
                number_of(result.outcome),
                short(u128::from(result.latency_ms)),
            ];
            mark.bytes().into_iter().chain(numbers.into_iter().flat_map(u16::to_be_bytes))
        })
        .collect()
}

/// The results that were packed so. What remains of a last one that is cut off is left out.
pub(super) fn unpack(slot: Timestamp, packed: &[u8]) -> impl Iterator<Item = (TargetMark, CheckResult)> {
    packed.chunks_exact(LENGTH).filter_map(move |bytes| {
        let (mark, numbers) = bytes.split_first_chunk::<8>()?;
        let (numbers, _) = numbers.as_chunks::<2>();
        let [after, outcome, latency] = <[[u8; 2]; 3]>::try_from(numbers).ok()?.map(u16::from_be_bytes);
        let result = CheckResult {
            checked_at: slot.plus(Duration::from_millis(after.into())),
            outcome: outcome_of(outcome),
            latency_ms: latency.into(),
        };
        Some((TargetMark::from(*mark), result))
    })
}

fn number_of(outcome: CheckOutcome) -> u16 {
    match outcome {
        CheckOutcome::Answered(status_code) => status_code,
        CheckOutcome::Failed(error) => error as u16,
    }
}

fn outcome_of(number: u16) -> CheckOutcome {
    CheckError::from_repr(number).map_or(CheckOutcome::Answered(number), CheckOutcome::Failed)
}

#[cfg(test)]
mod tests {
    use linklet_domain::{Host, HostShard, TargetId};

    use super::*;

    fn noon() -> Timestamp {
        Timestamp::parse("2026-03-02T12:00:00Z").unwrap()
    }

    fn mark(number: u128) -> TargetMark {
        TargetMark::of(&TargetId::in_shard(HostShard::of(&Host::parse("example.com").unwrap()), number), noon())
    }

    fn result(after: u64, outcome: CheckOutcome, latency_ms: u64) -> CheckResult {
        CheckResult { checked_at: noon().plus(Duration::from_millis(after)), outcome, latency_ms }
    }

    #[test]
    fn results_are_read_as_they_were_stored() {
        let errors = (0..14).map(|number| CheckOutcome::Failed(CheckError::from_repr(number).unwrap()));
        let outcomes = [100, 200, 599, 999].map(CheckOutcome::Answered).into_iter().chain(errors);
        let results: Vec<_> = (0..)
            .zip(outcomes)
            .map(|(number, outcome)| (mark(number.into()), result(number * 3_600, outcome, number * 400)))
            .collect();

        let packed = pack(noon(), results.iter().map(|(mark, result)| (*mark, result)));

        assert_eq!(packed.len(), results.len() * 14);
        assert_eq!(unpack(noon(), &packed).collect::<Vec<_>>(), results);
        assert_eq!(unpack(noon(), &packed[..packed.len() - 1]).count(), results.len() - 1);
    }

    #[test]
    fn what_there_is_no_room_for_is_stored_as_the_most() {
        let long = result(70_000, CheckOutcome::Answered(200), 1 << 40);

        let packed = pack(noon(), [(mark(1), &long)].into_iter());

        let most = result(65_535, CheckOutcome::Answered(200), 65_535);
        assert_eq!(unpack(noon(), &packed).collect::<Vec<_>>(), [(mark(1), most)]);
    }
}
