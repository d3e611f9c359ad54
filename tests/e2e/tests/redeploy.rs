//! Monitored URLs while the system is deployed again and its functions are killed: none is forgotten, and nobody is told twice.
//!
//! `LINKLET_PYTHON` runs the program that deploys and kills: `infra.local`, which sets it for the system that
//! `make e2e` starts. Another system can't be tested so; then the test says it and passes. It is among the last
//! ones, since the system has other parameters afterwards.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use linklet_domain::Timestamp;
use linklet_test_support::{Manner, OpenRequests, Site};
use serde_json::{Value, json};

use crate::api::{Api, User, send};
use crate::stack::exactly;
use crate::ticks::Ticks;

/// Each on an address of its own, so that none waits for another.
const SITES: u8 = 24;
/// These take so long that some of their checks are on the way at any time.
const SLOW: usize = 8;
const SLOWNESS: Duration = Duration::from_millis(1_500);
/// The last one takes longer than the second deployment lets it, and not as long as the first.
const TOO_SLOW: Duration = Duration::from_secs(4);
/// What the second deployment changes: the environments of clock and watch-check, and how many partitions there are.
const CHANGES: [&str; 3] = ["CheckIntervalSeconds=15", "HttpTimeoutSeconds=3", "MaxConcurrency=16"];
/// For what takes some ticks at most. The first one of a new system begins within three minutes.
const PATIENCE: Duration = Duration::from_secs(240);

/// The system that `make e2e` has started.
struct System {
    python: OsString,
}

impl System {
    fn of_our_own() -> Option<Self> {
        env::var_os("LINKLET_PYTHON").map(|python| Self { python })
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.args(["-m", "infra.local", name]).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        command
    }

    fn begin_deployment(&self) -> Child {
        self.command("redeploy").args(CHANGES).spawn().unwrap()
    }

    fn kill_functions(&self) {
        assert!(self.command("kill").status().unwrap().success());
    }
}

/// A site and the target that it is.
struct Watched {
    site: Site,
    id: String,
}

struct Watch<'u> {
    user: &'u User,
    all: Vec<Watched>,
    /// The slow ones together.
    slow: OpenRequests,
}

impl<'u> Watch<'u> {
    /// Registers sites that answer at once, and well.
    async fn start(user: &'u User) -> Self {
        let (slow, quick) = (OpenRequests::default(), OpenRequests::default());
        let mut all = Vec::new();
        for number in 0..SITES {
            let open = if usize::from(number) < SLOW { &slow } else { &quick };
            let site = Site::start_on(Ipv4Addr::new(127, 0, 2, 1 + number), open);
            let registered =
                send(user.request("POST", "/v1/targets").json(&json!({"url": site.url("/")}))).await.expecting(201);
            all.push(Watched { site, id: registered.text("id") });
        }
        Self { user, all, slow }
    }

    fn slow_sites(&self) -> impl Iterator<Item = &Site> {
        self.all[..SLOW].iter().map(|watched| &watched.site)
    }

    /// The one that is too slow for the second deployment.
    fn slowest(&self) -> &Watched {
        self.all.last().unwrap()
    }

    fn fail(&self) {
        for watched in &self.all {
            watched.site.behave(Manner::Answers(404));
        }
        self.slow_sites().for_each(|site| site.behave(Manner::AnswersAfter(SLOWNESS, 404)));
        self.slowest().site.behave(Manner::AnswersAfter(TOO_SLOW, 404));
    }

    fn recover(&self) {
        self.all.iter().for_each(|watched| watched.site.behave(Manner::Answers(200)));
    }

    async fn are_all(&self, status: &str) -> bool {
        for watched in &self.all {
            if self.user.get(&format!("/v1/targets/{}", watched.id)).await.json()["status"] != status {
                return false;
            }
        }
        true
    }

    async fn results(&self, watched: &Watched, since: &str) -> Vec<Value> {
        let path = format!("/v1/targets/{}/results?limit=100&since={since}", watched.id);
        self.user.get(&path).await.json()["items"].as_array().unwrap().clone()
    }

    /// How often each site was asked for anything.
    fn requests(&self) -> Vec<usize> {
        self.all.iter().map(|watched| watched.site.all_requests()).collect()
    }

    async fn have_all_failed_twice_since(&self, moment: &str) -> bool {
        for watched in &self.all {
            let results = self.results(watched, moment).await;
            assert!(results.iter().all(|result| result["status_code"] != 200), "{results:?}");
            if results.len() < 2 {
                return false;
            }
        }
        true
    }

    /// How many notifications of this type there are about each URL.
    async fn notifications(&self, event_type: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for notification in self.user.notifications(event_type).await {
            let message = notification["message"].as_str().unwrap();
            *counts.entry(message.split(' ').next().unwrap().to_owned()).or_default() += 1;
        }
        counts
    }

    fn once_each(&self) -> BTreeMap<String, usize> {
        self.all.iter().map(|watched| (watched.site.url("/"), 1)).collect()
    }

    async fn listed(&self) -> Vec<String> {
        let items = self.user.get("/v1/targets?limit=100").await.json()["items"].as_array().unwrap().clone();
        let mut ids: Vec<_> = items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids
    }

    fn registered(&self) -> Vec<String> {
        let mut ids: Vec<_> = self.all.iter().map(|watched| watched.id.clone()).collect();
        ids.sort();
        ids
    }

    fn abandoned(&self) -> usize {
        self.slow_sites().map(Site::abandoned).sum()
    }

    /// Kills the functions while slow sites are being checked, and again if all of these were quicker.
    async fn kill_in_the_middle(&self, system: &System) {
        let before = self.abandoned();
        wait_for("a check is cut off", Duration::from_millis(20), async || {
            if self.slow.now() > 0 {
                system.kill_functions();
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            self.abandoned() > before
        })
        .await;
    }
}

async fn wait_for(what: &str, pause: Duration, mut is_so: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_so().await {
        assert!(started.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(pause).await;
    }
}

#[tokio::test]
async fn a_deployment_and_killed_functions_forget_no_target_and_repeat_no_notification() {
    let Some(system) = System::of_our_own() else {
        eprintln!("skipped: LINKLET_PYTHON is not set, so the system can't be deployed again from here");
        return;
    };
    let (ada, ticks) = (User::new(&Api::new()).await, Ticks::of_the_stack().await);
    let watch = Watch::start(&ada).await;
    let pause = Duration::from_millis(500);
    ticks.begin(1).await;
    wait_for("all targets are up", pause, async || watch.are_all("up").await).await;

    watch.fail();
    let mut deployment = system.begin_deployment();
    // Besides those of the schedule: ticks so close to each other that several workers check the same targets.
    for _ in 0..3 {
        ticks.begin(1).await;
    }
    watch.kill_in_the_middle(&system).await;
    let news = async || !watch.notifications("target.down").await.is_empty();
    wait_for("the first target is said to be down", Duration::from_millis(100), news).await;
    // Now others go down, and the news of some is on its way.
    watch.kill_in_the_middle(&system).await;
    watch.kill_in_the_middle(&system).await;
    assert!(deployment.wait().unwrap().success());

    // The schedule's ticks go on, with functions of the second deployment.
    let (deployed, before) = (Timestamp::now().to_string(), watch.requests());
    let again = async || watch.have_all_failed_twice_since(&deployed).await;
    wait_for("all targets are checked again and again", pause, again).await;
    assert!(before.iter().zip(watch.requests()).all(|(before, now)| *before < now));
    assert!(watch.are_all("down").await);
    assert_eq!(watch.listed().await, watch.registered());
    let timeouts = watch.results(watch.slowest(), &deployed).await;
    assert!(timeouts.iter().any(|result| result["error"] == "timeout"), "{timeouts:?}");
    let told_down = async || watch.notifications("target.down").await;
    exactly("each is said to be down once", watch.once_each(), told_down).await;

    watch.recover();
    wait_for("all targets are up again", pause, async || watch.are_all("up").await).await;
    let told_up = async || watch.notifications("target.up").await;
    exactly("each is said to be up once", watch.once_each(), told_up).await;
    assert_eq!(told_down().await, watch.once_each());
    println!("{} checks of slow sites cut off", watch.abandoned());
}
