//! Starts, shows and cancels jobs. They are carried out by the function `jobs`; this one reads links only to count them.

mod new_job;
mod view;

use std::collections::BTreeSet;

use linklet_domain::{GivenFilter, Job, JobId, JobWork, LinkJob, LinkTask, Scope, SortOrder, Tag, UserId, Verdict};
use linklet_dynamodb::{Cursor, JobsTable, LinksTable, Names, RepositoryError};
use linklet_lambda::http::{
    ApiError, Handler, Method, Problem, Request, Response, Result, ShortUrls, StatusCode, json, located,
};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::link_filter::{LinkOrder, LinkQuery, Matches};
use linklet_lambda::link_view::{CreatorNames, NAMES, within_budget};
use linklet_lambda::throttle::StatsQueryLimiter;
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use self::new_job::{NewJob, tag_in};
use self::view::{Count, JobView, Jobs};

/// The routes of jobs, and those that rename or remove a tag.
pub struct JobsApi {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of jobs.
    pub jobs: JobsTable,
    /// The repository of links, to count those that are meant.
    pub links: LinksTable,
    /// The repository of people's names, for those of the jobs' creators.
    pub people: Names,
    /// Limits what counting links reads.
    pub questions: StatsQueryLimiter,
    /// Recognises short URLs.
    pub short_urls: ShortUrls,
}

impl Handler for JobsApi {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::POST, ["api", "jobs"]) => self.create(request).await,
            (&Method::GET, ["api", "jobs"]) => self.list(request).await,
            (&Method::GET, ["api", "jobs", id]) => self.one(request, id).await,
            (&Method::DELETE, ["api", "jobs", id]) => self.cancel(request, id).await,
            (&Method::PATCH, ["api", "tags", tag]) => self.rename_tag(request, tag).await,
            (&Method::DELETE, ["api", "tags", tag]) => self.remove_tag(request, tag).await,
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

/// The body of a request to rename a tag.
#[derive(Deserialize)]
struct Renaming {
    name: String,
}

impl JobsApi {
    async fn create(&self, request: &Request) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksWrite).await?;
        let NewJob { work, query, is_dry_run } = NewJob::read(request, &self.short_urls)?;
        if is_dry_run {
            return Ok(json(StatusCode::OK, &self.count(request, &caller, &query).await?));
        }
        self.start(request, (work, &query), "jobs").await
    }

    async fn rename_tag(&self, request: &Request, tag: &str) -> Result<Response> {
        self.admit(request, Scope::LinksWrite).await?;
        let Renaming { name } = request.json()?;
        let (from, to) = (tag_in_path(tag)?, tag_in("name", &name)?);
        let filter = GivenFilter::of_tag(&from);
        self.start_on_tag(request, LinkTask::RenameTag { from, to }, filter).await
    }

    async fn remove_tag(&self, request: &Request, tag: &str) -> Result<Response> {
        self.admit(request, Scope::LinksWrite).await?;
        let tag = tag_in_path(tag)?;
        let filter = GivenFilter::of_tag(&tag);
        self.start_on_tag(request, LinkTask::Untag { tag }, filter).await
    }

    async fn start_on_tag(&self, request: &Request, task: LinkTask, filter: GivenFilter) -> Result<Response> {
        let work = LinkJob { task, filter, short_code: None };
        let query = LinkQuery::of(&work.filter)?;
        self.start(request, (work, &query), "../jobs").await
    }

    /// Answers 202 with a new job, whose address is below this one.
    async fn start(&self, request: &Request, (work, query): (LinkJob, &LinkQuery), jobs: &str) -> Result<Response> {
        // A job that began in a session which has ended would go on: its steps look at the creator, and at no session.
        let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
        let Count { matching, is_exact } = self.count(request, &caller, query).await?;
        let creator = (caller.changer(), caller.role);
        let asked = (request.received_at, request.correlation_id.clone());
        let expected = is_exact.then_some(matching);
        let job = Job::new(caller.workspace, JobWork::Links(Box::new(work)), creator, asked, expected);
        let job = self.jobs.create(&job).await?.ok_or(ApiError::Problem(Problem::TooManyJobs))?;
        let names = self.names(std::slice::from_ref(&job)).await;
        let location = format!("{jobs}/{}", job.id);
        Ok(located(json(StatusCode::ACCEPTED, &JobView::new(job, names.as_ref())), &location))
    }

    async fn list(&self, request: &Request) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksRead).await?;
        let (limit, after) = (request.page_size()?, request.parsed("after", Cursor::decode)?);
        let page = self.jobs.list(&caller.workspace, limit, after.as_ref()).await?;
        let names = self.names(&page.items).await;
        let jobs = Jobs {
            jobs: page.items.into_iter().map(|job| JobView::new(job, names.as_ref())).collect(),
            next_cursor: page.next.map(|cursor| cursor.encode()),
        };
        Ok(json(StatusCode::OK, &jobs))
    }

    async fn one(&self, request: &Request, id: &str) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksRead).await?;
        self.show(self.find(&caller, id).await?).await
    }

    async fn cancel(&self, request: &Request, id: &str) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksWrite).await?;
        let job = self.find(&caller, id).await?;
        let is_theirs = caller.role.may_change(&job.created_by, &caller.user);
        // What becomes of a workspace is changed by asking for something else.
        Problem::Forbidden.when(!is_theirs || !job.work.is_of_links())?;
        self.authenticator.confirm(request, &caller, &job.created_by, Scope::LinksWrite).await?;
        let cancelled = self.jobs.cancel(&job.workspace, &job.id, &caller.changer(), request.received_at).await?;
        self.show(cancelled.ok_or(UNKNOWN)?).await
    }

    /// Authenticates a request, and gives up a job of the workspace that has got stuck, so that nobody sees or waits for it.
    async fn admit(&self, request: &Request, scope: Scope) -> Result<Caller> {
        let caller = self.authenticator.require(request, scope).await?;
        self.jobs.give_up_stuck(&caller.workspace, request.received_at).await?;
        Ok(caller)
    }

    /// A job of the caller's workspace.
    async fn find(&self, caller: &Caller, id: &str) -> Result<Job> {
        let id = JobId::parse(id).map_err(|_| UNKNOWN)?;
        self.jobs.find(&caller.workspace, &id).await?.ok_or(UNKNOWN)
    }

    async fn show(&self, job: Job) -> Result<Response> {
        let names = self.names(std::slice::from_ref(&job)).await;
        Ok(json(StatusCode::OK, &JobView::new(job, names.as_ref())))
    }

    /// What the creators of these jobs are called, if that can be read.
    async fn names(&self, jobs: &[Job]) -> Option<CreatorNames> {
        let people: BTreeSet<&UserId> = jobs.iter().map(|job| &job.created_by).collect();
        within_budget(NAMES, self.people.names(people)).await
    }

    /// How many links are meant that the caller may change, as far as one request may read.
    async fn count(&self, request: &Request, caller: &Caller, query: &LinkQuery) -> Result<Count, RepositoryError> {
        self.questions.answer(request, caller, self.matching(request, caller, query)).await
    }

    async fn matching(&self, request: &Request, caller: &Caller, query: &LinkQuery) -> Result<Count, RepositoryError> {
        let (workspace, now) = (&caller.workspace, request.received_at);
        let is_theirs = |owner: &UserId| caller.role.may_change(owner, &caller.user);
        if let Some(id) = &query.external_id {
            let found = self.links.with_external_id(workspace, id).await?;
            let is_meant = found
                .is_some_and(|link| is_theirs(&link.identity.owner) && query.verdict(&link, now) == Verdict::Shown);
            return Ok(Count { matching: is_meant.into(), is_exact: true });
        }
        let order = LinkOrder { order: SortOrder::Ascending, ..LinkOrder::default() };
        let mut matches = Matches::of(query, order, &self.links, workspace, now);
        let mut matching = 0;
        while let Some(found) = matches.next().await? {
            matching += found.iter().filter(|link| is_theirs(&link.owner)).count() as u64;
        }
        Ok(Count { matching, is_exact: matches.rest().is_none() })
    }
}

const UNKNOWN: ApiError = ApiError::Problem(Problem::NotFound);

/// The tag that a path names. API Gateway has decoded the path but for `%25`, so what is left to decode is a per cent sign.
fn tag_in_path(segment: &str) -> Result<Tag> {
    let text = percent_decode_str(segment).decode_utf8().map_err(|_| UNKNOWN)?;
    Ok(tag_in("tag", &text)?)
}
