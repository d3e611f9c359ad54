//! Answers to those who have a share of statistics, who need no account.
//!
//! What a share costs doesn't depend on how many look at it: an execution environment holds it for a minute, an answer is kept for five,
//! here and in StatsTable, and only so many are computed in a minute. So a share that was ended shows nothing after a minute, and none of
//! this counts as what the workspace's members ask.

use std::num::NonZeroUsize;
use std::time::Duration;

use linklet_domain::{
    Invalid, LimitedRoute, RateLimit, Share, ShareId, ShareToken, ThrottleSubject, Timestamp, TypedPassword,
};
use linklet_dynamodb::{Consistency, CountOutcome, ReadMeter, SharedAnswer, StatsTable, ThrottleTable};
use lru::LruCache;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};

use crate::hashing::LinkHashing;
use crate::http::{ApiError, Problem, Request, Response, Result, StatusCode, json_text};
use crate::limiter::{Strangers, answer_of_table};
use crate::telemetry::warn_of;

/// The header with the token of a share. It stands behind `#` in addresses, which browsers don't send, and in no query.
const TOKEN: &str = "x-share-token";

/// The header with the password of a share, percent-encoded, since headers have no other characters than ASCII's.
const PASSWORD: &str = "x-share-password";

/// How long a share is held: with what a read may be behind, less than the minute within which one that was ended shows nothing.
const HELD_FOR: Duration = Duration::from_secs(55);

/// How many shares are held.
const MOST_HELD: NonZeroUsize = NonZeroUsize::new(500).unwrap();

/// How many answers are held, of some 20 KB each.
const MOST_ANSWERS: NonZeroUsize = NonZeroUsize::new(100).unwrap();

/// Opens shares, and keeps what is answered to those who have them.
pub struct Shares {
    table: StatsTable,
    calls: ThrottleTable,
    hashing: LinkHashing,
    held: Mutex<LruCache<ShareId, Held>>,
    answers: Mutex<LruCache<(ShareId, String), SharedAnswer>>,
}

struct Held {
    share: Share,
    until: Timestamp,
    /// The digest of its password, once somebody has known it, so that each visitor doesn't cost a hash.
    password: Option<[u8; 32]>,
}

impl Shares {
    /// The shares in this table, whose computed answers are counted in that one.
    pub fn new(table: StatsTable, calls: ThrottleTable, hashing: LinkHashing) -> Self {
        let (held, answers) = (Mutex::new(LruCache::sparse(MOST_HELD)), Mutex::new(LruCache::sparse(MOST_ANSWERS)));
        Self { table, calls, hashing, held, answers }
    }

    /// The share whose token the request has, which then speaks for itself, whoever else the sender is; `None` without a token. Senders are
    /// counted before anything is read.
    ///
    /// # Errors
    /// 404 if there is no such share any more, 403 without its password, and 429 for those who ask or guess too often.
    pub async fn open(&self, request: &Request, strangers: &Strangers) -> Result<Option<Share>> {
        if !request.has_header(TOKEN) {
            return Ok(None);
        }
        strangers.admit(request).await?;
        let token = request.only_header(TOKEN).and_then(|text| ShareToken::parse(text).ok());
        let token = token.ok_or(Problem::ShareNotFound)?;
        let (share, known) = self.share(&token, request.received_at).await?;
        if !share.is_opened_by(&token) || !share.is_valid_at(request.received_at) {
            return Err(Problem::ShareNotFound.into());
        }
        self.admit(request, &share, known).await?;
        Ok(Some(share))
    }

    /// The share with the id of a token, and the digest of its password if that is known.
    async fn share(&self, token: &ShareToken, now: Timestamp) -> Result<(Share, Option<[u8; 32]>)> {
        if let Some(held) = self.held.lock().get(&token.id).filter(|held| now < held.until) {
            return Ok((held.share.clone(), held.password));
        }
        let found = self.table.share(&token.workspace, &token.id, now, Consistency::Eventual).await?;
        let share = found.ok_or(Problem::ShareNotFound)?;
        // Only for those who have the token: others could push out what is held.
        if share.is_opened_by(token) {
            let held = Held { share: share.clone(), until: now.plus(HELD_FOR), password: None };
            self.held.lock().put(token.id.clone(), held);
        }
        Ok((share, None))
    }

    /// Lets those pass who know the password of a share, or whose share has none.
    async fn admit(&self, request: &Request, share: &Share, known: Option<[u8; 32]>) -> Result<()> {
        let Some(stored) = &share.password_hash else { return Ok(()) };
        let encoded = request.only_header(PASSWORD).ok_or(Problem::SharePasswordRequired)?;
        let typed = percent_decode_str(encoded).decode_utf8().map_err(|_| Problem::SharePasswordWrong)?;
        let typed = TypedPassword::from(typed.as_ref());
        let digest: [u8; 32] = Sha256::digest(typed.as_bytes()).into();
        if known.is_some_and(|known| known == digest) {
            return Ok(());
        }
        self.hashing.guess_of_share(request, &share.id, &typed, stored).await?;
        if let Some(held) = self.held.lock().get_mut(&share.id) {
            held.password = Some(digest);
        }
        Ok(())
    }

    /// Answers a question to whoever has a share: as it was answered in the last five minutes, or else by computing it.
    ///
    /// # Errors
    /// 429 if too much was computed for the share or for its workspace in this minute, and those of `compute`.
    pub async fn answer(
        &self,
        request: &Request,
        share: &Share,
        question: String,
        compute: impl Future<Output = Result<String>>,
    ) -> Result<Response> {
        let (now, key) = (request.received_at, (share.id.clone(), question));
        let held = self.answers.lock().get(&key).filter(|answer| answer.is_fresh(now)).cloned();
        let answer = match held {
            Some(answer) => answer,
            None => {
                let answer = match self.table.shared_answer(&share.id, &key.1, now).await? {
                    Some(kept) => kept,
                    None => self.computed(share, &key.1, now, compute).await?,
                };
                self.answers.lock().put(key, answer.clone());
                answer
            }
        };
        Ok(json_text(StatusCode::OK, answer.body))
    }

    async fn computed(
        &self,
        share: &Share,
        question: &str,
        now: Timestamp,
        compute: impl Future<Output = Result<String>>,
    ) -> Result<SharedAnswer> {
        const UNCOUNTED: &str = "an answer for a share was computed without being counted";
        let (subject, limit) = (ThrottleSubject::Share(share.id.clone()), RateLimit::SHARED_ANSWERS);
        let counted = self.calls.count(LimitedRoute::Shares, &subject, limit, 1, now).await;
        if let Some(CountOutcome::Refused(window)) = answer_of_table(counted, UNCOUNTED) {
            return Err(ApiError::Throttled(limit.refusal(window, now)));
        }
        let meter = ReadMeter::of_shares(&self.calls, &share.workspace, now);
        // On the heap, since it would otherwise be part of what counts it.
        let (computed, failed) = meter.measure(Box::pin(compute)).await;
        failed.into_iter().for_each(|error| _ = answer_of_table::<()>(Err(error), UNCOUNTED));
        let answer = SharedAnswer { as_of: now, body: computed? };
        let kept = self.table.keep_shared_answer(&share.id, question, &answer).await;
        warn_of(kept, "a shared answer could not be kept");
        Ok(answer)
    }
}

/// Refuses parameters that narrow what a share shows, since combinations of them tell more than its panels do.
///
/// # Errors
/// When the query has another parameter than these.
pub fn require_only(request: &Request, parameters: &[&str]) -> Result<(), Invalid> {
    let mut pairs = url::form_urlencoded::parse(request.raw_query().as_bytes());
    match pairs.find(|(name, value)| !value.is_empty() && !parameters.contains(&name.as_ref())) {
        Some((name, _)) => Err(Invalid::new(format!("{name} can't be used with a share")).in_field(name)),
        None => Ok(()),
    }
}
