//! Orders the reports by mail that are due: on Mondays those of the week before, on the first of a month those of the month before. On other
//! days a run reads nothing.
//!
//! A run goes through [who wants reports](Reports), workspace by workspace, so that the numbers of a workspace or a tag are added up once for
//! all who get them. It orders each report that isn't mailed yet, and notes nothing itself: notify claims the report of a period right before
//! it mails it. So whatever fails, an order or a whole run, is simply ordered anew by the next attempt, and an order that comes twice is mailed
//! once. An attempt that has too little time ends with an error, and Lambda's retry goes on where mails are missing.

use std::{collections::HashMap, time::Duration};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use linklet_domain::{
    EmailRequest, Report, ReportEvery, ReportId, ReportNumbers, ReportPeriod, ReportSubscription, RequestedEmail,
    Timestamp, WorkspaceName,
};
use linklet_dynamodb::{LinksTable, ReportReader, Reports, RepositoryError, Result, StatsTable, Workspaces};
use linklet_lambda::batch;
use linklet_lambda::gathering::Gathering;
use linklet_lambda::publisher::{Message, Publisher};
use linklet_lambda::schedule::{Call, Job};
use linklet_lambda::telemetry::chain;
use tokio::time::{Instant, sleep};

/// The job that the scheduler runs once a day.
pub struct DueReports {
    /// Who wants reports.
    pub wanted: Reports,
    /// The workspaces, for their names.
    pub workspaces: Workspaces,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics.
    pub stats: StatsTable,
    /// The queue of notify, in which mails are ordered. Without mail there are no reports.
    pub mails: Option<Publisher>,
    /// How long a run begins with workspaces.
    pub runs_for: Duration,
}

/// Why a run has failed.
#[derive(Debug, thiserror::Error)]
pub enum ReportsError {
    /// It isn't known who wants reports.
    #[error("it could not be read who wants reports")]
    Wanted(#[from] RepositoryError),
    /// The reports of this number of workspaces were not all ordered.
    #[error("the reports of {0} workspaces could not all be ordered")]
    Failed(usize),
    /// The next attempt goes on.
    #[error("the time was too short for all reports")]
    Unfinished,
}

/// Why the reports of a workspace were not all ordered.
#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("an order could not be serialised")]
    Message(#[from] serde_json::Error),
    #[error("{0} orders could not be sent")]
    Refused(usize),
}

/// How long the numbers of a workspace are added up. What is left is ordered by the next attempt.
const PER_WORKSPACE: Duration = Duration::from_secs(60);

/// A run about one week or month.
struct Run<'r> {
    reports: &'r DueReports,
    mails: &'r Publisher,
    call: &'r Call,
    period: ReportPeriod,
    until: Instant,
    /// How many workspaces had reports that were due, and of how many something has failed.
    counts: (usize, usize),
}

impl Job for DueReports {
    type Error = ReportsError;

    async fn run(&self, call: Call) -> Result<(), ReportsError> {
        let (started, today) = (std::time::Instant::now(), call.scheduled_time.day());
        let Some(mails) = &self.mails else { return Ok(()) };
        let (until, mut counts) = (Instant::now() + self.runs_for, (0, 0));
        for period in ReportEvery::ALL.into_iter().filter_map(|every| every.due_on(today)) {
            let run = Run { reports: self, mails, call: &call, period, until, counts };
            counts = Box::pin(run.order_all()).await?;
        }
        let (workspaces, failed) = counts;
        batch::log(workspaces, failed, started);
        if failed == 0 { Ok(()) } else { Err(ReportsError::Failed(failed)) }
    }
}

impl DueReports {
    /// How long a run begins with workspaces: the function may run for 15 minutes, and one of a workspace takes some seconds.
    pub const RUNS_FOR: Duration = Duration::from_secs(13 * 60);

    /// How long it waits for each order: SES sends 14 mails a second for an account that hasn't asked for more.
    const PACE: Duration = Duration::from_millis(100);
}

impl Run<'_> {
    /// Orders the reports of all workspaces. One that fails keeps no other from its own.
    async fn order_all(mut self) -> Result<(usize, usize), ReportsError> {
        let mut reader = self.reports.wanted.wanted(self.period.every());
        let mut waiting: Vec<ReportSubscription> = Vec::new();
        while let Some(mut more) = reader.next().await? {
            waiting.append(&mut more);
            // The last workspace's may go on in the next answer.
            let last = waiting.last().map(|report| report.workspace_id);
            let complete = waiting.partition_point(|report| Some(report.workspace_id) != last);
            let rest = waiting.split_off(complete);
            self.order_each(&waiting).await?;
            waiting = rest;
        }
        self.order_each(&waiting).await?;
        Ok(self.counts)
    }

    async fn order_each(&mut self, wanted: &[ReportSubscription]) -> Result<(), ReportsError> {
        for of_workspace in wanted.chunk_by(|one, other| one.workspace_id == other.workspace_id) {
            if Instant::now() >= self.until {
                return Err(ReportsError::Unfinished);
            }
            self.counts.0 += 1;
            if let Err(error) = self.order(of_workspace).await {
                tracing::error!(error = chain(&error), "the reports of a workspace were not all ordered");
                self.counts.1 += 1;
            }
        }
        Ok(())
    }

    /// Orders the reports of a workspace that aren't mailed yet.
    async fn order(&self, wanted: &[ReportSubscription]) -> Result<(), OrderError> {
        let awaiting: Vec<_> = wanted.iter().filter(|report| report.awaits(self.period)).collect();
        let readable = self.readable(&awaiting).await?;
        let Some(first) = readable.first() else { return Ok(()) };
        let Some(workspace) = self.reports.workspaces.workspace(&first.workspace_id).await? else { return Ok(()) };
        let mut known: HashMap<ReportId, Option<ReportNumbers>> = HashMap::new();
        let (mut orders, mut left) = (Vec::new(), 0);
        // A workspace with very many reports must not take the time of all others.
        let until = self.until.min(Instant::now() + PER_WORKSPACE);
        for report in readable {
            let id = report.id();
            if Instant::now() >= until && !known.contains_key(&id) {
                left += 1;
                continue;
            }
            if !known.contains_key(&id) {
                known.insert(id.clone(), self.numbers(report).await?);
            }
            if let Some(Some(numbers)) = known.get(&id) {
                orders.push(Message::new(&self.order_of(id, report, &workspace.name, numbers))?);
            }
        }
        let refused = left + self.send(&orders).await;
        if refused == 0 { Ok(()) } else { Err(OrderError::Refused(refused)) }
    }

    /// Sends orders as slowly as they can be mailed, and returns how many were not sent.
    async fn send(&self, orders: &[Message]) -> usize {
        let mut refused = 0;
        for some in orders.chunks(Publisher::MAX_BATCH) {
            if Instant::now() >= self.until {
                refused += some.len();
                continue;
            }
            refused += self.mails.send_all(some).await;
            sleep(DueReports::PACE * some.len() as u32).await;
        }
        refused
    }

    /// Those of these reports whose person can be mailed them now. Those of former members are deleted.
    async fn readable<'w>(&self, awaiting: &[&'w ReportSubscription]) -> Result<Vec<&'w ReportSubscription>> {
        const AT_A_TIME: usize = 8;
        let wanted = &self.reports.wanted;
        let readable_by = |of_person: &'_ [&'w ReportSubscription]| {
            let of_person = of_person.to_vec();
            async move {
                let Some(first) = of_person.first() else { return Ok(of_person) };
                match wanted.reader(&first.user_id, &first.workspace_id).await? {
                    ReportReader::Reachable => Ok(of_person),
                    ReportReader::Unreachable => Ok(Vec::new()),
                    ReportReader::Gone => {
                        for report in of_person {
                            wanted.end(&report.id(), &report.user_id).await?;
                        }
                        Ok::<_, RepositoryError>(Vec::new())
                    }
                }
            }
        };
        let people: Vec<_> = awaiting.chunk_by(|one, other| one.user_id == other.user_id).map(readable_by).collect();
        stream::iter(people).buffered(AT_A_TIME).try_concat().await
    }

    /// What a report tells; `None` if that is nothing.
    async fn numbers(&self, report: &ReportSubscription) -> Result<Option<ReportNumbers>> {
        let question = report.question(self.period);
        let tables = (&self.reports.links, &self.reports.stats);
        // Of the scheduled time, so that a late call answers the same.
        let gathering = Gathering::of(tables, &report.workspace_id, &question, self.call.scheduled_time);
        let gathering = gathering.against(self.period.before().days());
        gathering.add_followed().await?;
        Ok(ReportNumbers::of(&gathering.finish().finish()))
    }

    fn order_of(
        &self,
        report_id: ReportId,
        report: &ReportSubscription,
        workspace_name: &WorkspaceName,
        numbers: &ReportNumbers,
    ) -> EmailRequest {
        let report = Report {
            report_id,
            user_id: report.user_id,
            workspace_name: workspace_name.clone(),
            tag: report.tag.clone(),
            period: self.period,
            numbers: numbers.clone(),
        };
        EmailRequest::new(&self.call.correlation_id, Timestamp::now(), RequestedEmail::Report(Box::new(report)))
    }
}
