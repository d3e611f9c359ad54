//! How close a redirect should be to what is possible, and how far from what others do.

use std::fmt;

use serde::Serialize;

use crate::report::Figures;

/// A bound for what has been measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Goal {
    /// What is bounded.
    pub goal: String,
    /// `None` if one of its subjects was left out.
    pub measured: Option<f64>,
    /// At most this.
    pub bound: f64,
    pub met: Option<bool>,
}

impl Goal {
    fn new(goal: &str, measured: Option<f64>, bound: f64) -> Self {
        Self { goal: goal.to_owned(), measured, bound, met: measured.map(|measured| measured <= bound) }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let met = self.met.map_or("–", |met| if met { "met" } else { "missed" });
        let measured = self.measured.map_or_else(|| "–".to_owned(), |measured| format!("{measured:.3}"));
        write!(formatter, "{met:<7} {measured:>8} ≤ {:<6.3} {}", self.bound, self.goal)
    }
}

/// All goals, measured as far as their subjects were.
pub fn goals(subjects: &[Figures]) -> Vec<Goal> {
    let of = |name: &str, figure: fn(&Figures) -> Option<f64>| {
        subjects.iter().find(|subject| subject.name == name).and_then(figure)
    };
    let redirect = |figure| of("redirect-cold-link", figure);
    let ratio = |figure, other: &str| Some(redirect(figure)? / of(other, figure)?);
    let warm: fn(&Figures) -> Option<f64> = |figures| figures.warm_us_p50;
    let cold: fn(&Figures) -> Option<f64> = |figures| figures.cold_ms_p50;
    let cpu: fn(&Figures) -> Option<f64> = |figures| figures.cpu_ms_per_1k;
    let memory: fn(&Figures) -> Option<f64> = |figures| figures.rss_mb;
    let hot = || Some(of("redirect-hot-link", warm)? / of("noop", warm)?);
    let auth_start = || Some(of("auth", cold)? / of("noop", cold)?);
    let reading = || Some((redirect(warm)? - of("noop", warm)?) / of("get-item", warm)?);
    vec![
        Goal::new("warm, a hot link: times an empty function", hot(), 1.3),
        Goal::new("warm, a cold link: above an empty function, times a bare GetItem", reading(), 1.25),
        Goal::new("cold start: times an empty function's", ratio(cold, "noop"), 3.0),
        Goal::new("cold start: times Node's", ratio(cold, "peer-node"), 1.0 / 15.0),
        Goal::new("cold start: times Python's", ratio(cold, "peer-python"), 1.0 / 25.0),
        Goal::new(
            "processor time, a cold link: times an empty function with two bare calls",
            ratio(cpu, "noop-calls"),
            1.05,
        ),
        Goal::new("memory: times Node's", ratio(memory, "peer-node"), 1.0 / 5.0),
        Goal::new("memory: times Python's", ratio(memory, "peer-python"), 1.0 / 4.0),
        Goal::new("zipped, in MB", redirect(|figures| figures.zip_mb), 4.0),
        Goal::new("auth, cold start: times an empty function's", auth_start(), 3.0),
        Goal::new("auth, zipped, in MB", of("auth", |figures| figures.zip_mb), 5.0),
        Goal::new("read units of a redirect", redirect(|figures| figures.rru), 0.5),
        Goal::new("write units of a redirect", redirect(|figures| figures.wru), 1.0),
        Goal::new("writes before the answer", redirect(|figures| figures.early_writes), 0.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(name: &str, warm: f64, cold: f64) -> Figures {
        let (warm_us_p50, cold_ms_p50) = (Some(warm), Some(cold));
        Figures { name: name.to_owned(), warm_us_p50, cold_ms_p50, early_writes: Some(0.0), ..Figures::default() }
    }

    fn goal(subjects: &[Figures], name: &str) -> Goal {
        goals(subjects).into_iter().find(|goal| goal.goal == name).unwrap()
    }

    #[test]
    fn a_goal_is_met_up_to_its_bound() {
        let subjects = [figures("noop", 100.0, 2.0), figures("redirect-cold-link", 350.0, 6.0)];

        let cold = goal(&subjects, "cold start: times an empty function's");

        assert_eq!((cold.measured, cold.met), (Some(3.0), Some(true)));
        assert_eq!(Goal::new("more", Some(3.1), 3.0).met, Some(false));
        assert_eq!(goal(&subjects, "writes before the answer").met, Some(true));
    }

    #[test]
    fn a_cold_link_is_allowed_an_empty_function_and_a_bare_read() {
        let read = Figures { warm_us_p50: Some(200.0), ..figures("get-item", 0.0, 0.0) };
        let subjects = [figures("noop", 100.0, 2.0), read, figures("redirect-cold-link", 350.0, 6.0)];

        let warm = goal(&subjects, "warm, a cold link: above an empty function, times a bare GetItem");

        assert_eq!((warm.measured, warm.met), (Some(1.25), Some(true)));
    }

    #[test]
    fn a_goal_without_its_subjects_is_neither_met_nor_missed() {
        let subjects = [figures("redirect-cold-link", 350.0, 6.0)];

        let node = goal(&subjects, "cold start: times Node's");

        assert_eq!((node.measured, node.met), (None, None));
        assert!(node.to_string().starts_with("–"), "{node}");
        assert!(goals(&[]).iter().all(|goal| goal.met.is_none()));
    }
}
