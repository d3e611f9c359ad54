//! Creating a link, alone or as one of many: one code per URL in a workspace, one answer per idempotency key.

use std::time::Instant;

use linklet_domain::{AnswerKey, Generation, Link, LinkId, LinkStatus, ShortCode, TargetId};
use linklet_dynamodb::{Consistency, CreateOutcome, Creation, FirstAnswer, Reusable, back_off};
use serde::{Deserialize, Serialize};

use super::LinkWriter;
use super::new_link::{Named, NewLink};
use crate::http::{
    ApiError, JsonObject, MOST_IGNORED, Problem, Request, Response, Result, StatusCode, json_text, located,
    mark_as_replay, tagged,
};
use crate::identity::Caller;
use crate::link_view::{LinkView, Surroundings};

/// What tells a request from others: its idempotency key, if it has one, and a digest of its body, which must be the same for all
/// requests with one key.
struct Identity {
    key: Option<AnswerKey>,
    fingerprint: String,
}

/// A validated request for a short link.
struct Submission<'r> {
    request: &'r Request,
    caller: &'r Caller,
    wanted: NewLink,
    /// The hash of the link's password.
    password_hash: Option<String>,
    identity: Identity,
    /// The members of the body that do nothing. They are part of the answer that is kept for the idempotency key.
    ignored: Vec<String>,
    /// Whether nobody is notified of the link.
    is_quiet: bool,
}

/// The outcome of one attempt.
enum AttemptOutcome {
    /// The response to send.
    Answer(FirstAnswer),
    /// The response that another request with the same key got.
    Repeated(FirstAnswer),
    /// The generated code is taken or reserved; try another.
    Collision,
    /// Another request for the same URL or key was faster; look again, since its result may be the response.
    Conflict,
}

impl LinkWriter {
    /// The answer to the request for a link, which is kept under the key: the link that its URL has, or a new one. In a
    /// request about many links, hashing a password may wait until a time for its turn, and nobody is notified.
    ///
    /// # Errors
    /// When the body breaks a rule, a code or external id is taken, a limit is reached, or a table can't be reached.
    pub async fn link_for(
        &self,
        request: &Request,
        body: &JsonObject,
        caller: &Caller,
        key: Option<AnswerKey>,
        among_many_until: Option<Instant>,
    ) -> Result<Response> {
        let identity = Identity { key, fingerprint: body.fingerprint() };
        // Before the body is judged: an expiry that was in the future at the first request may have passed since.
        if let Some(answer) = self.earlier_answer(&identity, request, caller).await? {
            return self.repeated(answer).await;
        }
        let wanted = self.read(request, body)?;
        let password_hash = self.hash(request, caller, &wanted, among_many_until).await?;
        let (ignored, is_quiet) = (body.ignored(), among_many_until.is_some());
        self.submit(Submission { request, caller, wanted, password_hash, identity, ignored, is_quiet }).await
    }

    /// Creates a link that has this external id.
    ///
    /// # Errors
    /// As of [`Self::link_for`].
    pub async fn create_named(
        &self,
        request: &Request,
        body: &JsonObject,
        caller: &Caller,
        named: Named<'_>,
    ) -> Result<()> {
        let wanted = self.read(request, body)?.named(named);
        let password_hash = self.hash(request, caller, &wanted, None).await?;
        let identity = Identity { key: None, fingerprint: body.fingerprint() };
        let (ignored, is_quiet) = (Vec::new(), false);
        let submission = Submission { request, caller, wanted, password_hash, identity, ignored, is_quiet };
        self.submit(submission).await.map(drop)
    }

    fn read(&self, request: &Request, body: &JsonObject) -> Result<NewLink> {
        NewLink::read(body, request, &self.reserved, &self.short_urls, self.room.reach)
    }

    async fn hash(
        &self,
        request: &Request,
        caller: &Caller,
        wanted: &NewLink,
        among_many_until: Option<Instant>,
    ) -> Result<Option<String>> {
        let Some(password) = &wanted.password else { return Ok(None) };
        self.hashing.hash(request, &caller.user, password, among_many_until).await.map(Some)
    }

    async fn submit(&self, submission: Submission<'_>) -> Result<Response> {
        const CODE_TRIES: u32 = 5;
        const CONFLICT_TRIES: u32 = 10;
        let (mut collisions, mut conflicts) = (0, 0);
        while collisions < CODE_TRIES && conflicts < CONFLICT_TRIES {
            // After a conflict, the result of the other request has to be seen.
            let consistency = if conflicts == 0 { Consistency::Eventual } else { Consistency::Strong };
            match self.attempt(&submission, consistency).await? {
                AttemptOutcome::Answer(answer) => return Ok(into_response(answer)),
                AttemptOutcome::Repeated(answer) => return Ok(mark_as_replay(into_response(answer))),
                AttemptOutcome::Collision => collisions += 1,
                AttemptOutcome::Conflict => {
                    back_off(conflicts).await;
                    conflicts += 1;
                }
            }
        }
        Problem::TryAgain.when(collisions < CODE_TRIES)?;
        // Of 10¹² codes, five in a row are taken only if most are, or if something is wrong with how they are drawn.
        tracing::warn!(tries = CODE_TRIES, "all generated codes are taken");
        Err(Problem::NoFreeCode.into())
    }

    async fn attempt(&self, submission: &Submission<'_>, consistency: Consistency) -> Result<AttemptOutcome> {
        // After a conflict, a request with the same key may have been answered.
        if consistency == Consistency::Strong
            && let Some(answer) =
                self.earlier_answer(&submission.identity, submission.request, submission.caller).await?
        {
            return Ok(AttemptOutcome::Repeated(answer));
        }
        if !submission.wanted.is_reusable {
            return self.create(submission, None).await;
        }
        let NewLink { target, watch, .. } = &submission.wanted;
        match self.links.reusable(&submission.caller.workspace, target, *watch, consistency).await? {
            Reusable::Link(link) if submission.wanted.may_reuse => self.answer_with(submission, *link).await,
            // The URL keeps the link that it has.
            Reusable::Link(_) => self.create(submission, None).await,
            reusable => self.create(submission, Some(&reusable)).await,
        }
    }

    /// The answer that a request with the same key got.
    async fn earlier_answer(
        &self,
        identity: &Identity,
        request: &Request,
        caller: &Caller,
    ) -> Result<Option<FirstAnswer>> {
        let Some(key) = &identity.key else { return Ok(None) };
        match self.links.first_answer(&caller.workspace, key, request.received_at).await? {
            Some(answer) if answer.fingerprint != identity.fingerprint => Err(Problem::IdempotencyKeyReused.into()),
            answer => Ok(answer),
        }
    }

    /// The first answer again, unless its link was purged since. Its code may even have another link now.
    async fn repeated(&self, answer: FirstAnswer) -> Result<Response> {
        if let Some(StoredAnswer { short_code }) = StoredAnswer::by(&answer)
            && let Some(record) = self.links.redirect_target(&short_code).await?
            && (record.is_purged() || record.identity().id.generation != answer.generation)
        {
            return Err(ApiError::gone(LinkStatus::Purged));
        }
        Ok(mark_as_replay(into_response(answer)))
    }

    /// 200 with the link that the URL has.
    async fn answer_with(&self, submission: &Submission<'_>, link: Link) -> Result<AttemptOutcome> {
        let answer = self.answer(submission, StatusCode::OK, link, true)?;
        let Some(key) = &submission.identity.key else { return Ok(AttemptOutcome::Answer(answer)) };
        let (workspace, now) = (&submission.caller.workspace, submission.request.received_at);
        let is_first = self.links.remember_answer(workspace, key, &answer, now).await?;
        Ok(if is_first { AttemptOutcome::Answer(answer) } else { AttemptOutcome::Conflict })
    }

    /// 201 with a new link.
    async fn create(&self, submission: &Submission<'_>, reusable: Option<&Reusable>) -> Result<AttemptOutcome> {
        let code = match submission.wanted.code() {
            Some(code) => code.clone(),
            None => (self.generate_code)().map_err(ApiError::internal)?,
        };
        // A custom code that is reserved was refused before, so this one is generated.
        if self.reserved.contains(&code) {
            return Ok(AttemptOutcome::Collision);
        }
        let link = self.checked(submission.request, submission.caller, &submission.wanted, code).await?;
        let answer = self.answer(submission, StatusCode::CREATED, link.clone(), false)?;
        let creation = Creation {
            link: &link,
            reusable,
            any_case: submission.wanted.any_case(),
            password_hash: submission.password_hash.as_deref(),
            answer: submission.identity.key.as_ref().map(|key| (key, &answer)),
            is_quiet: submission.is_quiet,
        };
        match self.links.create(&creation).await? {
            CreateOutcome::Created => Ok(AttemptOutcome::Answer(answer)),
            CreateOutcome::Conflict => Ok(AttemptOutcome::Conflict),
            CreateOutcome::ExternalIdTaken(by) => Err(ApiError::ExternalIdTaken(by)),
            CreateOutcome::CodeTaken if submission.wanted.custom_code.is_some() => {
                // A simultaneous copy of this request may have taken it.
                let Submission { identity, request, caller, .. } = submission;
                let earlier = self.earlier_answer(identity, request, caller).await?;
                earlier.map(AttemptOutcome::Repeated).ok_or(Problem::ShortCodeTaken.into())
            }
            CreateOutcome::CodeTaken => Ok(AttemptOutcome::Collision),
        }
    }

    /// The link, if nothing but its code can keep it from being created.
    pub(super) async fn checked(
        &self,
        request: &Request,
        caller: &Caller,
        wanted: &NewLink,
        code: ShortCode,
    ) -> Result<Link> {
        if wanted.watch {
            let target = TargetId::of_url(&caller.workspace, &wanted.target)?;
            self.room.require(&caller.workspace, &caller.user, &target).await?;
        }
        let generation = Generation::generate().map_err(ApiError::internal)?;
        let link = wanted.link(LinkId { code, generation }, caller, request);
        self.blocks.refuse(&link, request.received_at).await?;
        Ok(link)
    }

    fn answer(&self, submission: &Submission<'_>, status: StatusCode, link: Link, reused: bool) -> Result<FirstAnswer> {
        let (generation, revision) = (link.id().generation.clone(), link.revision);
        let missing = if reused { submission.wanted.metadata.missing_in(&link.metadata) } else { Vec::new() };
        let around = if reused { Surroundings::unread() } else { Surroundings::of_new_link() };
        let view = View {
            ignored: missing.iter().chain(&submission.ignored).map(String::as_str).take(MOST_IGNORED).collect(),
            link: LinkView::new(submission.request, &self.short_urls, link, &around),
            reused,
        };
        let body = serde_json::to_string(&view).map_err(ApiError::internal)?;
        let fingerprint = submission.identity.fingerprint.clone();
        Ok(FirstAnswer { fingerprint, generation, revision, status: status.as_u16(), body })
    }
}

fn into_response(answer: FirstAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let stored = StoredAnswer::by(&answer).filter(|_| status == StatusCode::CREATED);
    let response = tagged(json_text(status, answer.body), &answer.generation, answer.revision);
    match stored {
        Some(StoredAnswer { short_code }) => located(response, &format!("links/{short_code}")),
        None => response,
    }
}

/// What the answer of a first request, which is stored as text, says about the link.
#[derive(Deserialize)]
struct StoredAnswer {
    short_code: ShortCode,
}

impl StoredAnswer {
    fn by(answer: &FirstAnswer) -> Option<Self> {
        serde_json::from_str(&answer.body).ok()
    }
}

#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    link: LinkView,
    reused: bool,
    /// Metadata that the reused link lacks, and members that do nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<&'a str>,
}
