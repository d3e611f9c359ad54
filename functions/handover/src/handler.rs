//! Hands over what members leave behind: their links and monitored URLs to an heir, and their API keys, unless those are revoked.
//! And [pauses](reclaim) what others may have made in the name of an account that its person has reclaimed.
//!
//! Either is an item of UsersTable, and the stream of its changes is what carries it out. A turn does as much as fits into
//! its time and notes how far it has come, which is in the stream again. So work of any size ends, goes on after a crash
//! where it was, and waits for a table that is unavailable.

mod reclaim;

use std::time::{Duration, Instant};

use aws_lambda_events::{
    dynamodb::{Event as StreamEvent, EventRecord},
    streams::DynamoDbEventResponse,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{Handover, KeysLeft, Member, Origin, PageToken, ShortCode, Timestamp};
use linklet_dynamodb::{
    Cursor, HandoverStage, LinksTable, OpenHandover, RepositoryError, ThrottleTable, UsersTable, WatchTable,
    stream::{HandoverSignal, TurnSignal, turn_signal},
};
use linklet_lambda::{
    batch::{Consumer, DeadLetterQueue},
    email_requests::EmailRequests,
    metrics, stream as records,
    telemetry::chain,
};

/// The consumer of UsersTable's stream, of which the event source's filter leaves what concerns handovers.
pub struct Handovers {
    /// The repository of handovers, members and API keys.
    pub users: UsersTable,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of monitored URLs.
    pub targets: WatchTable,
    /// The repository of where people have signed in from.
    pub guesses: ThrottleTable,
    /// Where it is ordered that people are told that their membership is paused.
    pub mails: EmailRequests,
    /// The dead-letter queue, for records that can't be read and handovers that can't be carried out.
    pub dead_letters: DeadLetterQueue,
    /// How many links of a workspace are looked at with one read.
    pub links_at_once: usize,
    /// How long a turn takes before it notes how far it has come.
    pub turn: Duration,
}

/// Why a turn ended early.
#[derive(Debug, thiserror::Error)]
enum TurnError {
    /// A table can't be read or written, or not now.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// There is nobody to hand anything over to.
    #[error("the workspace has no other admin")]
    NoHeir,
}

impl TurnError {
    /// Whether the same turn would end in the same way again.
    fn is_permanent(&self) -> bool {
        match self {
            Self::Repository(error) => matches!(error, RepositoryError::UnexpectedItem { .. }),
            Self::NoHeir => true,
        }
    }
}

impl records::InOrder for Handovers {
    async fn process(&self, record: &EventRecord) -> bool {
        let taken = match turn_signal(record) {
            Ok(Some(TurnSignal::Handover(signal))) => self.take_turn(&signal).await.inspect_err(|error| {
                let (workspace_id, user_id) = (signal.workspace.to_string(), signal.leaver.to_string());
                let error = chain(error);
                tracing::error!(workspace_id, user_id, error, "what a member left could not be handed over");
            }),
            Ok(Some(TurnSignal::Reclaim(user))) => self.pause(&user).await.inspect_err(|error| {
                tracing::error!(
                    user_id = %user,
                    error = chain(error),
                    "a reclaimed account could not be paused"
                );
            }),
            Ok(None) => Ok(()),
            Err(error) => return records::park(&self.dead_letters, record, &chain(&error)).await,
        };
        match taken {
            Ok(()) => true,
            Err(error) => error.is_permanent() && records::park(&self.dead_letters, record, &chain(&error)).await,
        }
    }
}

impl Consumer<StreamEvent, DynamoDbEventResponse> for Handovers {
    async fn consume(&self, batch: StreamEvent) -> DynamoDbEventResponse {
        records::one_by_one(batch, self).await
    }
}

/// What is handed over in a turn, from whom and to whom.
struct Turn<'a> {
    handover: &'a Handover,
    heir: &'a Member,
    /// The last time of creation of what is handed over.
    created_until: Timestamp,
    ends_at: Instant,
}

impl Handovers {
    /// How many links or monitored URLs are written at once.
    const CONCURRENCY: usize = 16;

    async fn take_turn(&self, signal: &HandoverSignal) -> Result<(), TurnError> {
        let Some(open) = self.users.handover(&signal.workspace, &signal.leaver).await? else { return Ok(()) };
        metrics::concerns(&open.handover.correlation_id);
        match (signal.is_due_again, &open.stage) {
            (true, HandoverStage::Rests) => Ok(self.users.begin_last_pass(&open).await?),
            (false, HandoverStage::Links(_) | HandoverStage::Targets(_)) => self.carry_on(&open).await,
            // The marker of an earlier removal, or a record that was delivered again.
            (true, _) | (false, HandoverStage::Rests) => Ok(()),
        }
    }

    /// Hands over what fits into a turn, and notes how far that has come.
    async fn carry_on(&self, open: &OpenHandover) -> Result<(), TurnError> {
        let ends_at = Instant::now() + self.turn;
        let handover = &open.handover;
        // With each turn anew, since the heir may have left since.
        let members = self.users.members(&handover.workspace).await?;
        let heir = handover.heir_among(&members).ok_or(TurnError::NoHeir)?;
        let turn = Turn { handover, heir, created_until: handover.created_until(&members), ends_at };
        if open.stage == HandoverStage::Links(None) {
            self.settle_keys(&turn).await?;
            let Handover { workspace, leaver, .. } = handover;
            let (until, origin) = (turn.created_until, turn.origin());
            self.users.withdraw_invitations_by(workspace, leaver, until, &origin).await?;
        }
        match self.hand_over(&turn, open.stage.clone()).await? {
            HandoverStage::Rests if open.is_last => self.users.end_handover(open).await?,
            HandoverStage::Rests => self.users.rest_handover(open).await?,
            stage => self.users.note_handover(open, stage).await?,
        }
        Ok(())
    }

    async fn settle_keys(&self, turn: &Turn<'_>) -> Result<(), RepositoryError> {
        let Handover { workspace, leaver, keys, .. } = turn.handover;
        let heir = (*keys == KeysLeft::Kept).then_some(turn.heir);
        self.users.settle_keys(workspace, leaver, turn.created_until, heir, &turn.origin()).await
    }

    /// Hands over from this stage on. Returns the stage that comes after the turn: the pass is complete if that is to rest.
    async fn hand_over(&self, turn: &Turn<'_>, from: HandoverStage) -> Result<HandoverStage, RepositoryError> {
        let mut stage = from.clone();
        while stage != HandoverStage::Rests && (stage == from || Instant::now() < turn.ends_at) {
            stage = match self.next_stage(turn, &stage).await {
                Ok(next) => next,
                // What was done is noted, so that the turns of a slow table get somewhere, too.
                Err(error) if stage != from => {
                    tracing::warn!(error = chain(&error), "a turn of a handover ended early");
                    break;
                }
                Err(error) => return Err(error),
            };
        }
        Ok(stage)
    }

    async fn next_stage(&self, turn: &Turn<'_>, stage: &HandoverStage) -> Result<HandoverStage, RepositoryError> {
        match stage {
            HandoverStage::Links(after) => self.hand_over_links(turn, after.as_ref()).await,
            HandoverStage::Targets(after) => self.hand_over_targets(turn, after.as_ref()).await,
            HandoverStage::Rests => Ok(HandoverStage::Rests),
        }
    }

    /// Hands over the next links, and returns what comes after them.
    async fn hand_over_links(
        &self,
        turn: &Turn<'_>,
        after: Option<&Cursor<ShortCode>>,
    ) -> Result<HandoverStage, RepositoryError> {
        let Turn { handover: Handover { workspace, leaver, correlation_id, .. }, heir, created_until, .. } = *turn;
        let owned = self.links.owned(workspace, leaver, created_until, after, self.links_at_once).await?;
        let handed: Vec<_> =
            owned.codes.iter().map(|code| self.links.hand_over(code, leaver, &heir.user, correlation_id)).collect();
        stream::iter(handed).buffer_unordered(Self::CONCURRENCY).try_collect::<()>().await?;
        turn.log("links", owned.codes.len());
        Ok(owned.rest.map_or(HandoverStage::Targets(None), |rest| HandoverStage::Links(Some(rest))))
    }

    /// Hands over the next monitored URLs, and returns what comes after them.
    async fn hand_over_targets(
        &self,
        turn: &Turn<'_>,
        after: Option<&PageToken>,
    ) -> Result<HandoverStage, RepositoryError> {
        let Turn { handover: Handover { workspace, leaver, .. }, heir, created_until, .. } = *turn;
        let owned = self.targets.owned(workspace, leaver, created_until, after).await?;
        let handed: Vec<_> = owned.ids.iter().map(|id| self.targets.hand_over(id, leaver, &heir.user)).collect();
        stream::iter(handed).buffer_unordered(Self::CONCURRENCY).try_collect::<()>().await?;
        turn.log("targets", owned.ids.len());
        Ok(owned.rest.map_or(HandoverStage::Rests, |rest| HandoverStage::Targets(Some(rest))))
    }
}

impl Turn<'_> {
    /// Where what the turn changes comes from: from the removal.
    fn origin(&self) -> Origin {
        Origin::consequence(&self.handover.correlation_id, Timestamp::now())
    }

    /// Logs what was handed over, unless that is nothing.
    fn log(&self, what: &'static str, number: usize) {
        let Handover { workspace, leaver, .. } = self.handover;
        if number > 0 {
            tracing::info!(workspace_id = %workspace, user_id = %leaver, what, number, "handed over");
        }
    }
}
