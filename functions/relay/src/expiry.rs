//! The steps of links' expiries: markers, `url.expired`, tombstones.

use std::{collections::BTreeMap, convert::Infallible};

use linklet_domain::{CorrelationId, ExpiryStep, Link, LinkEdit, LinkId, Record, Timestamp, Tombstone, WorkspaceId};
use linklet_dynamodb::{EditContext, ExpiryMarker, RepositoryError, Result};
use linklet_lambda::metrics::{self, Metric};
use linklet_lambda::telemetry::{chain, warn_of};

use crate::Relay;

/// A marker to write, with the position of the link's record in the batch.
pub(crate) struct DueMarker {
    pub position: usize,
    pub marker: ExpiryMarker,
}

/// A link whose marker is gone, with the position of the marker's record in the batch.
pub(crate) struct DueExpiry {
    pub position: usize,
    pub link: LinkId,
    pub correlation_id: CorrelationId,
}

/// A link to replace by its tombstone.
struct Removal {
    link: Box<Link>,
    due: DueExpiry,
}

/// How many links a run has replaced, and the positions of those that failed.
#[derive(Default)]
struct Run {
    cleaned: usize,
    failed: Vec<usize>,
}

impl Relay {
    /// Writes markers in the order of their records, so that the last change of a link counts. Returns the positions of those that
    /// failed.
    pub(crate) async fn mark(&self, markings: &[DueMarker]) -> Vec<usize> {
        let mut failed = Vec::new();
        for DueMarker { position, marker } in markings {
            if let Err(error) = self.links.mark_expiry(marker).await {
                log_failed_step(&marker.link, &marker.correlation_id, &error);
                failed.push(*position);
            }
        }
        failed
    }

    /// Takes the steps that are due, and returns the positions of the records whose steps failed.
    pub(crate) async fn take_steps(&self, due: Vec<DueExpiry>) -> Vec<usize> {
        let mut failed = Vec::new();
        let mut removals: BTreeMap<WorkspaceId, Vec<Removal>> = BTreeMap::new();
        for one in due {
            match self.take_step(&one).await {
                Ok(None) => {}
                Ok(Some(link)) => {
                    removals.entry(link.identity.workspace).or_default().push(Removal { link, due: one });
                }
                Err(error) => {
                    log_failed_step(&one.link, &one.correlation_id, &error);
                    failed.push(one.position);
                }
            }
        }
        for (workspace, removals) in removals {
            failed.extend(self.clean_up(&workspace, removals).await);
        }
        failed
    }

    /// Publishes the expiry of a link, writes a marker that came too early again, or returns the link if it is to be removed.
    async fn take_step(&self, due: &DueExpiry) -> Result<Option<Box<Link>>> {
        let Some(Record::Link(link)) = self.links.find(&due.link.code).await? else { return Ok(None) };
        if *link.id() != due.link {
            return Ok(None);
        }
        match link.next_expiry_step(self.keep_expired) {
            Some((at, _)) if at > Timestamp::now() => {
                let correlation_id = due.correlation_id.clone();
                self.links.mark_expiry(&ExpiryMarker { link: due.link.clone(), due: at, correlation_id }).await?;
                Ok(None)
            }
            Some((_, ExpiryStep::Publish)) => {
                let is_published = self.links.publish_expiry(&link).await?;
                metrics::add(Metric::LinksExpired, usize::from(is_published));
                Ok(None)
            }
            Some((_, ExpiryStep::Remove)) => Ok(Some(Box::new(link))),
            None => Ok(None),
        }
    }

    /// Replaces expired links of a workspace by their tombstones, as one run of its cleanup.
    async fn clean_up(&self, workspace: &WorkspaceId, removals: Vec<Removal>) -> Vec<usize> {
        let started = Timestamp::now();
        log_statistics(self.links.cleanup_started(workspace, started).await);
        let mut run = Run::default();
        for Removal { link, due } in removals {
            match self.remove(*link, &due.correlation_id).await {
                Ok(is_removed) => run.cleaned += usize::from(is_removed),
                Err(error) => {
                    log_failed_step(&due.link, &due.correlation_id, &error);
                    run.failed.push(due.position);
                }
            }
        }
        metrics::add(Metric::LinksRemoved, run.cleaned);
        let counts = (run.cleaned, run.failed.len());
        log_statistics(self.links.cleanup_ended(workspace, counts, started, Timestamp::now()).await);
        run.failed
    }

    /// Replaces an expired link by its tombstone, unless it has been extended since, and says whether that was left to do.
    async fn remove(&self, link: Link, correlation_id: &CorrelationId) -> Result<bool> {
        let by = link.identity.owner;
        let context = EditContext::unconditional(&by, correlation_id);
        let edited = self.links.edit(Record::Link(link), &context, |record| {
            let now = Timestamp::now();
            let Record::Link(link) = record else { return Ok::<_, Infallible>(LinkEdit::Keep) };
            let step = link.next_expiry_step(self.keep_expired).filter(|(due, _)| *due <= now);
            Ok(match step {
                Some((_, ExpiryStep::Remove)) => LinkEdit::Replace(Tombstone::of_expired(link, now)),
                Some((_, ExpiryStep::Publish)) | None => LinkEdit::Keep,
            })
        });
        edited.await?.is_written()
    }
}

fn log_failed_step(link: &LinkId, correlation_id: &CorrelationId, error: &RepositoryError) {
    tracing::error!(
        short_code = link.code.as_str(),
        correlation_id = correlation_id.as_str(),
        error = chain(error),
        "a step of a link's expiry failed"
    );
}

/// Logs a failure to update the statistics of the cleanup. The cleanup continues, since it doesn't depend on them.
fn log_statistics(written: Result<()>) {
    warn_of(written, "the cleanup's statistics could not be written");
}
