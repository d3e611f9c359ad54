//! Lambda's event sources: what polls the stream and the queue, and hands batches to functions.

use std::{rc::Rc, time::Duration};

use aws_lambda_events::dynamodb::{Event as StreamEvent, EventRecord};
use linklet_analytics::PARTS_AT_ONCE;
use linklet_lambda::batch::Consumer as _;
use linklet_test_support::queue_batch;
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use crate::queue::Message;
use crate::world::{ANALYTICS, World};
use crate::{limits, settings};

/// Polls everything from now on, as long as the world lasts.
pub fn poll(world: &Rc<World>) {
    spawn_local(poll_stream(world.clone()));
    for number in 0..world.settings.analytics_concurrency {
        // Lambda begins with a few, and adds some with each second.
        let later = number.saturating_sub(world.settings.pollers - 1) as f64 / limits::NEW_POLLERS;
        spawn_local(poll_queue(world.clone(), Duration::from_secs_f64(later)));
    }
}

/// Has each shard polled, also those that are there later since a partition is split.
async fn poll_stream(world: Rc<World>) {
    let mut polled = 0;
    loop {
        while polled < world.clicks.shards() {
            for _ in 0..world.settings.relay_parallelization {
                spawn_local(poll_shard(world.clone(), polled));
            }
            polled += 1;
        }
        sleep(limits::STREAM_POLL).await;
    }
}

async fn poll_shard(world: Rc<World>, shard: usize) {
    let (most, window) = (settings::relay_batch(), world.settings.relay_window);
    let mut waited = Duration::ZERO;
    loop {
        let waiting = world.clicks.waiting(shard);
        if waiting == 0 || (waiting < most && waited < window) {
            waited = if waiting == 0 { Duration::ZERO } else { waited + limits::STREAM_POLL };
            sleep(limits::STREAM_POLL).await;
            continue;
        }
        waited = Duration::ZERO;
        if waiting > 2 * most {
            world.journal.saturates("relay", world.clock.elapsed());
        }
        forward(&world, shard, world.clicks.take(shard, most)).await;
    }
}

/// Hands a batch to the relay until all of it is forwarded.
async fn forward(world: &World, shard: usize, records: Vec<EventRecord>) {
    let mut batch = StreamEvent::default();
    batch.records.clone_from(&records);
    let count = records.len();
    let answer = world.relay.invoke(async |environment| {
        environment.processor.work(limits::RELAY_WORK * count as u32).await;
        environment.has.consume(batch).await
    });
    let Some(answer) = answer.await else {
        world.clicks.give_back(shard, records);
        sleep(limits::THROTTLED).await;
        return;
    };
    let failed = answer.batch_item_failures.first().and_then(|failure| failure.item_identifier.as_deref());
    let failed = failed
        .and_then(|number| records.iter().position(|record| record.change.sequence_number.as_deref() == Some(number)));
    if let Some(first) = failed {
        world.clicks.give_back(shard, records[first..].to_vec());
        sleep(limits::THROTTLED).await;
    }
}

async fn poll_queue(world: Rc<World>, later: Duration) {
    const POLL: Duration = Duration::from_millis(100);
    sleep(later).await;
    let (most, window) = (settings::analytics_batch(), world.settings.analytics_window);
    // The messages of other parts fill the rest of a batch.
    let (most, payload) = (most / world.settings.parts, limits::PAYLOAD / world.settings.parts);
    loop {
        let mut batch: Vec<Message> = Vec::new();
        let mut waited = Duration::ZERO;
        let is_full = loop {
            let bytes = payload - batch.iter().map(|message| message.body.len()).sum::<usize>();
            batch.extend(world.queues.receive(ANALYTICS, most - batch.len(), bytes));
            let is_full = batch.len() == most || bytes < 64 * 1_024;
            if is_full || (!batch.is_empty() && waited >= window) {
                break is_full;
            }
            waited = if batch.is_empty() { Duration::ZERO } else { waited + POLL };
            sleep(POLL).await;
        };
        if is_full {
            world.journal.saturates("full batches of analytics", world.clock.elapsed());
        }
        count(&world, batch).await;
    }
}

async fn count(world: &World, batch: Vec<Message>) {
    let bodies: Vec<String> = batch.iter().map(|message| message.body.to_string()).collect();
    let clicks: usize = batch.iter().map(|message| message.clicks.len()).sum();
    let parts = world.settings.parts;
    let answer = world.analytics.invoke(async |environment| {
        // Those of the other parts are read as well.
        let reading = limits::COUNT_WORK * (clicks * parts) as u32;
        environment.processor.work(reading.mul_f64(world.analytics.share())).await;
        let began = Instant::now();
        let answer = environment.has.consume(queue_batch(&bodies)).await;
        // The other parts are counted beside this one, and then as many again until all are.
        let others = parts.div_ceil(PARTS_AT_ONCE) - 1;
        sleep(began.elapsed() * others as u32).await;
        answer
    });
    let Some(answer) = answer.await else {
        batch.iter().for_each(|message| world.queues.return_later(ANALYTICS, message, true));
        sleep(limits::THROTTLED).await;
        return;
    };
    // Message ids are positions in the batch.
    let failed: Vec<&str> = answer.batch_item_failures.iter().map(|failure| failure.item_identifier.as_str()).collect();
    for (position, message) in batch.iter().enumerate() {
        if failed.contains(&position.to_string().as_str()) {
            world.journal.saturates("analytics gives messages back", world.clock.elapsed());
            world.queues.return_later(ANALYTICS, message, true);
        } else {
            world.queues.delete(ANALYTICS, message);
            world.journal.counted(world.clock, &message.clicks);
            world.journal.parked.set(world.journal.parked.get() + usize::from(message.clicks.is_empty()));
        }
    }
}
