//! People who follow links.

use std::{rc::Rc, time::Duration};

use linklet_domain::{
    Click, ClickId, CorrelationId, Event, EventDetail, IpHash, LinkId, Part, Record, RedirectTarget, Salt, Timestamp,
    Visitor,
};
use linklet_lambda::publisher::Publisher;
use linklet_redirect::HotLinks;
use linklet_test_support::{AGENTS, LinkBuilder};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

use crate::lambda::{Environment, Processor};
use crate::queue::Queues;
use crate::world::{ANALYTICS, Redirect, World};
use crate::{limits, shortcut};

/// Which links are followed.
#[derive(Debug, Clone, Copy)]
pub enum Links {
    /// One.
    One,
    /// So many, the n-th in proportion to 1/n.
    Zipf(usize),
    /// So many, all alike.
    Alike(usize),
}

impl Links {
    fn pick(self) -> usize {
        match self {
            Self::One => 0,
            // The inverse of the harmonic sum, approximately.
            Self::Zipf(links) => ((links as f64).powf(fastrand::f64()) as usize - 1).min(links - 1),
            Self::Alike(links) => fastrand::usize(..links),
        }
    }
}

/// Requests that come at a steady rate, after it has risen to that for [`RISE`].
#[derive(Debug, Clone, Copy)]
pub struct Arrivals {
    pub links: Links,
    pub a_second: f64,
    pub lasts: Duration,
}

/// How long it takes until all are there: nobody follows a link a thousand times at once.
const RISE: Duration = Duration::from_secs(5);

impl Arrivals {
    /// When a request comes after the beginning, at so many a second in the end.
    fn time_of(&self, number: usize, a_second: f64) -> Duration {
        let (number, rise) = (number as f64, RISE.as_secs_f64());
        let rising = a_second * rise / 2.0;
        let seconds =
            if number < rising { (2.0 * number * rise / a_second).sqrt() } else { rise / 2.0 + number / a_second };
        Duration::from_secs_f64(seconds)
    }
}

/// Lets them come, and returns when all are answered.
pub async fn arrive(world: &Rc<World>, arrivals: Arrivals) {
    const TICK: Duration = Duration::from_millis(10);
    let start = Instant::now();
    let a_second = arrivals.a_second / world.settings.parts as f64;
    let total = (a_second * arrivals.lasts.as_secs_f64()) as usize;
    let mut running: Vec<JoinHandle<()>> = Vec::new();
    let mut come = 0;
    while come < total {
        let until = start.elapsed() + TICK;
        while come < total && arrivals.time_of(come, a_second) < until {
            let at = start + arrivals.time_of(come, a_second);
            running.push(spawn_local(follow(world.clone(), arrivals.links.pick(), at)));
            come += 1;
        }
        running.retain(|one| !one.is_finished());
        sleep(TICK).await;
    }
    for one in running {
        one.await.expect("a visit ends");
    }
}

/// Puts clicks that happen now into the queue, as the relay does.
pub async fn leave_waiting(world: &World, links: Links, clicks: usize) {
    let processor = Processor::with_memory(limits::PROCESSOR);
    let publisher = Publisher::new(world.queues.client(&processor), Queues::url(ANALYTICS));
    let mut left = clicks;
    while left > 0 {
        let some = left.min(1_000);
        let mut clicks: Vec<Click> = (0..some).map(|_| click_on(world, links.pick())).collect();
        clicks.sort_by(|one, other| one.link.cmp(&other.link));
        let events: Vec<Event> = clicks.into_iter().map(Click::into_event).collect();
        let refused = publisher.send_packed(&events.iter().collect::<Vec<_>>(), link_of).await;
        assert!(refused.is_empty(), "the queue takes everything");
        left -= some;
    }
}

/// What the relay packs clicks by: another link is another group.
fn link_of(event: &Event) -> Option<LinkId> {
    let EventDetail::UrlClicked(clicked) = &event.detail else { return None };
    Some(clicked.link.clone())
}

fn click_on(world: &World, link: usize) -> Click {
    let target = target(world, link);
    *world.journal.clicks.borrow_mut().entry((target.identity.workspace, target.identity.id.clone())).or_default() += 1;
    Click::on(&target, world.clock.now(), visitor(), CorrelationId::generate())
}

async fn follow(world: Rc<World>, link: usize, at: Instant) {
    sleep_until(at).await;
    let (journal, now) = (&world.journal, world.clock.elapsed());
    journal.requests.set(journal.requests.get() + 1);
    if !world.gateway.borrow_mut().take_one(now) {
        let (first, count) = journal.gateway.get().unwrap_or((now, 0));
        journal.gateway.set(Some((first, count + 1)));
        return;
    }
    let visited = world.redirect.invoke(async |environment| visit(&world, environment, link).await);
    if visited.await.is_none() {
        journal.without_environment.set(journal.without_environment.get() + 1);
    }
}

async fn visit(world: &World, environment: &Environment<Redirect>, link: usize) {
    let (now, target) = (world.clock.now(), target(world, link));
    environment.processor.work(limits::ANSWER).await;
    read(&environment.has.hot_links, &target, now).await;
    let click = click_on(world, link);
    let click = if world.settings.parts > 1 { of_first_part(click) } else { click };
    if fastrand::usize(..world.settings.recorded) == 0 {
        environment.has.recorder.record(click).await;
    } else {
        shortcut::record(world, environment, click).await;
    }
}

/// Reads a link, unless the environment remembers it. LinksTable is never at its limit here: a partition serves the reads of
/// thousands of environments, which read a hot link once a second each.
async fn read(hot_links: &HotLinks, target: &RedirectTarget, now: Timestamp) {
    let code = &target.identity.id.code;
    if hot_links.get(code, now).is_none() {
        sleep(limits::CALL).await;
        hot_links.learn(code, Some(&Record::Link(target.clone())), now);
    }
}

/// The click with an id of the part that is played.
fn of_first_part(mut click: Click) -> Click {
    let first = Part::all().next();
    while Some(Part::of(&click.id)) != first {
        click.id = ClickId::generate(click.clicked_at());
    }
    click
}

fn target(world: &World, link: usize) -> RedirectTarget {
    let built =
        LinkBuilder::new(&format!("c{link:07}")).in_workspace(&world.workspaces[link % world.workspaces.len()]).build();
    RedirectTarget {
        identity: built.identity,
        target: built.target,
        availability: built.availability,
        settings: None,
        statistics: None,
    }
}

fn visitor() -> Visitor {
    thread_local! {
        static SALT: Salt = Salt::parse(&"salt".repeat(8)).expect("a salt");
    }
    let hash = SALT.with(|salt| IpHash::of(&format!("203.0.{}", fastrand::u32(..50_000)), salt));
    let page = format!("https://site{}.example/", fastrand::u32(..20));
    Visitor::new(hash).with_headers(Some(AGENTS[fastrand::usize(..3)].text), Some(&page))
}
