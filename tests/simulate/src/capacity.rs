//! How much of a table can be used in a second.

use std::time::Duration;

use crate::limits;

/// So many units a second, of which those of a second or more may be saved up. Calls are let in while any are left, and pay for what
/// they have used afterwards, so it may be in debt.
#[derive(Debug, Clone)]
pub struct Capacity {
    a_second: f64,
    most: f64,
    left: f64,
    at: Duration,
}

impl Capacity {
    /// A full one that saves up the units of a second.
    pub fn of(a_second: f64) -> Self {
        Self::saving_up(a_second, a_second)
    }

    /// A full one that saves up to `most` units.
    pub fn saving_up(a_second: f64, most: f64) -> Self {
        Self { a_second, most, left: most, at: Duration::ZERO }
    }

    /// Whether anything is left now.
    pub fn is_open(&mut self, now: Duration) -> bool {
        self.left = (self.left + self.a_second * now.saturating_sub(self.at).as_secs_f64()).min(self.most);
        self.at = now;
        self.left > 0.0
    }

    /// Takes units out.
    pub fn pay(&mut self, units: f64) {
        self.left -= units;
    }

    /// Takes one out, if one is left.
    pub fn take_one(&mut self, now: Duration) -> bool {
        let is_open = self.is_open(now);
        if is_open {
            self.pay(1.0);
        }
        is_open
    }
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// A range of the hashes of partition keys.
#[derive(Debug)]
struct Partition {
    /// It keeps its number when others are split, as the shard of the stream does that has its records.
    number: usize,
    first: u64,
    reads: Capacity,
    writes: Capacity,
    /// Since when it has been at its limit, and when it was last.
    hot: Option<(Duration, Duration)>,
}

impl Partition {
    fn from(number: usize, first: u64) -> Self {
        let [reads, writes] = [limits::PARTITION_READS, limits::PARTITION_WRITES].map(Capacity::of);
        Self { number, first, reads, writes, hot: None }
    }

    fn capacity(&mut self, access: Access) -> &mut Capacity {
        match access {
            Access::Read => &mut self.reads,
            Access::Write => &mut self.writes,
        }
    }
}

/// Why a table refuses a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The table has used what it may in this second.
    Table,
    /// A partition has.
    Partition,
}

/// The partitions of a table, in the order of their hashes.
#[derive(Debug)]
pub struct Partitions {
    all: Vec<Partition>,
    reads: Capacity,
    writes: Capacity,
}

impl Partitions {
    /// Those of a table with this warm throughput in write units.
    pub fn warmed(writes: f64) -> Self {
        let count = (writes / limits::PARTITION_WRITES).ceil().max(1.0) as usize;
        let width = u64::MAX / count as u64;
        let all = (0..count).map(|number| Partition::from(number, number as u64 * width)).collect();
        Self { all, reads: Capacity::of(writes * limits::READS_PER_WRITE), writes: Capacity::of(writes) }
    }

    /// The number of the partition in which a key is.
    pub fn number_of(&self, key: &str) -> usize {
        self.all[self.position_of(key)].number
    }

    fn position_of(&self, key: &str) -> usize {
        let hash = hash(key);
        self.all.partition_point(|partition| partition.first <= hash).saturating_sub(1)
    }

    /// Lets a call to these keys in, or refuses it.
    pub fn admit(&mut self, keys: &[&str], access: Access, now: Duration) -> Result<(), Refusal> {
        let table = if access == Access::Read { &mut self.reads } else { &mut self.writes };
        if !table.is_open(now) {
            return Err(Refusal::Table);
        }
        for key in keys {
            let position = self.position_of(key);
            if !self.all[position].capacity(access).is_open(now) {
                self.note_heat(position, now);
                return Err(Refusal::Partition);
            }
        }
        Ok(())
    }

    /// Pays for a call, as much for each of its keys.
    pub fn pay(&mut self, keys: &[&str], access: Access, units: f64) {
        let table = if access == Access::Read { &mut self.reads } else { &mut self.writes };
        table.pay(units);
        for key in keys {
            let position = self.position_of(key);
            self.all[position].capacity(access).pay(units / keys.len() as f64);
        }
    }

    fn note_heat(&mut self, position: usize, now: Duration) {
        const PAUSE: Duration = Duration::from_secs(60);
        let partition = &mut self.all[position];
        let since = partition.hot.filter(|(_, last)| *last + PAUSE > now).map_or(now, |(since, _)| since);
        partition.hot = Some((since, now));
        if now - since >= limits::SPLIT_AFTER {
            partition.hot = None;
            let first = partition.first;
            let end = self.all.get(position + 1).map_or(u64::MAX, |next| next.first);
            let half = Partition::from(self.all.len(), first + (end - first) / 2);
            self.all.insert(position + 1, half);
        }
    }
}

/// FNV-1a with a finish that spreads similar keys. Which hash DynamoDB uses is unknown.
fn hash(key: &str) -> u64 {
    let hash = key
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}
