//! Starts, shows and cancels jobs. They are carried out by the function `jobs`; this one reads links only to count them.

mod new_job;
mod view;

use std::collections::BTreeSet;

use linklet_domain::{GivenFilter, Job, JobId, JobWork, LinkJob, LinkTask, Scope, SortOrder, Tag, UserId, Verdict};
use linklet_dynamodb::{AnswerOfJob, Cursor, JobsTable, LinksTable, Names, NotStarted, RepositoryError};
use linklet_lambda::http::{
    ApiError, Belonging, Handler, Method, Once, Problem, Request, Response, Result, ShortUrls, StatusCode, json,
    located, no_content,
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
        let once = Once::in_workspace(request, &caller.workspace, &request.json_object()?)?;
        // Before the body is judged: an expiry that was in the future at the first request may have passed since.
        if let Some(first) = self.first_answer(request, &caller, &once).await? {
            return Ok(first);
        }
        let NewJob { work, query, is_dry_run } = NewJob::read(request, &self.short_urls)?;
        if is_dry_run {
            return Ok(json(StatusCode::OK, &self.count(request, &caller, &query).await?));
        }
        // A job that began in a session which has ended would go on: its steps look at the creator, and at no session.
        let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
        // A key has been trusted with it by whoever has made it.
        if work.task == LinkTask::Purge
            && let Ok(acting) = caller.acting()
        {
            self.authenticator.tokens.require_proof(acting, request.received_at).await?;
        }
        let count = self.count(request, &caller, &query).await?;
        self.begin(request, &caller, (work, &count), Some(&once), "jobs").await
    }

    /// The answer that a request with the same idempotency key got.
    async fn first_answer(&self, request: &Request, caller: &Caller, once: &Once) -> Result<Option<Response>> {
        let Some(key) = once.key() else { return Ok(None) };
        let (workspace, user, now) = (&caller.workspace, &caller.user, request.received_at);
        once.replay(self.jobs.first_answer(workspace, user, key, now).await?)
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
        let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
        let count = self.count(request, &caller, &query).await?;
        Problem::TagNotFound.when(count.is_exact && count.matching == 0)?;
        self.begin(request, &caller, (work, &count), None, "../jobs").await
    }

    /// Answers 202 with a new job, whose address is below this one.
    async fn begin(
        &self,
        request: &Request,
        caller: &Caller,
        (work, Count { matching, is_exact }): (LinkJob, &Count),
        once: Option<&Once>,
        jobs: &str,
    ) -> Result<Response> {
        let creator = (caller.changer(), caller.role);
        let asked = (request.received_at, request.correlation_id.clone());
        let expected = is_exact.then_some(*matching);
        let job = Job::new(caller.workspace, JobWork::Links(Box::new(work)), creator, asked, expected);
        let names = self.names(std::slice::from_ref(&job)).await;
        let location = format!("{jobs}/{}", job.id);
        let shown = |job: &Job| JobView::new(job.clone(), names.as_ref());
        let kept = once.and_then(|once| Some((once.key()?, once)));
        let kept = kept.map(|(key, once)| (key, |job: &Job| once.answer(StatusCode::ACCEPTED, &shown(job), &location)));
        let answer = kept.as_ref().map(|(key, answer)| (*key, answer as AnswerOfJob<'_>));
        match self.jobs.create(&job, answer).await? {
            Ok(job) => Ok(located(json(StatusCode::ACCEPTED, &shown(&job)), &location)),
            Err(refused) => {
                let first = match once {
                    Some(once) => self.first_answer(request, caller, once).await?,
                    None => None,
                };
                let is_full = refused == NotStarted::NoPlace;
                first.ok_or(if is_full { Problem::TooManyJobs } else { Problem::TryAgain }.into())
            }
        }
    }

    async fn list(&self, request: &Request) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksRead).await?;
        let (limit, after) = (request.page_size()?, request.after(Cursor::decode)?);
        let page = self.jobs.list(&caller.workspace, limit, after.as_ref()).await?;
        let names = self.names(&page.items).await;
        let jobs = Jobs {
            jobs: page.items.into_iter().map(|job| JobView::new(job, names.as_ref())).collect(),
            next: request.next_page(page.next.map(|cursor| cursor.encode())),
        };
        Ok(json(StatusCode::OK, &jobs))
    }

    async fn one(&self, request: &Request, id: &str) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksRead).await?;
        self.show(self.find(&caller, id).await?).await
    }

    async fn cancel(&self, request: &Request, id: &str) -> Result<Response> {
        let caller = self.admit(request, Scope::LinksWrite).await?;
        let Some(job) = self.look_up(&caller, id).await? else { return Ok(no_content()) };
        caller.require_owner(&job.created_by)?;
        if !job.work.is_of_links() {
            // What becomes of a workspace is changed by asking for something else.
            return Err(ApiError::Forbidden(Belonging::Linklet));
        }
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
        self.look_up(caller, id).await?.ok_or(UNKNOWN)
    }

    async fn look_up(&self, caller: &Caller, id: &str) -> Result<Option<Job>> {
        let Ok(id) = JobId::parse(id) else { return Ok(None) };
        Ok(self.jobs.find(&caller.workspace, &id).await?)
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
