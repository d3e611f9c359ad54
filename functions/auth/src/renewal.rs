//! Staying signed in: a session is renewed by the refresh token in a cookie, without the password.

use std::time::Duration;

use linklet_domain::{
    Account, Actor, Membership, RefreshToken, RenewableSession, Renewal, SessionId, Timestamp, ends_at, lifetimes,
    optional,
};
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result};
use serde::Deserialize;

use crate::{Auth, cookie::refresh_token_of, token_view};

/// The body of a renewal.
#[derive(Deserialize)]
struct Refresh {
    /// The slug of the workspace that the token is for.
    #[serde(default, deserialize_with = "optional")]
    workspace: Option<String>,
}

/// A session that can be renewed and has just begun.
pub(crate) struct Begun {
    /// The session.
    pub session: SessionId,
    /// Its token, and until when that is valid.
    pub issued: (String, Timestamp),
    /// Its refresh token.
    pub refresh_token: String,
    /// For how long the browser keeps that.
    pub lasts: Duration,
}

/// By whose word somebody signs in, and how long that holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLimit<'a> {
    /// The issuer of an identity; `None` for a password that works for a while only.
    pub issuer: Option<&'a str>,
    /// When the session ends.
    pub until: Timestamp,
}

/// For how long a browser keeps a refresh token that is made now.
fn kept(now: Timestamp, until: Option<Timestamp>) -> Duration {
    now.until(ends_at(now.plus(lifetimes::RENEWABLE_SESSIONS), until))
}

impl Auth {
    /// A token for the session of the cookie, and the cookie's successor.
    pub(crate) async fn refresh(&self, request: &Request) -> Result<Response> {
        self.address.require_own_page(request)?;
        let Refresh { workspace } = request.json()?;
        let offered = refresh_token_of(request).ok_or_else(|| refused("no refresh token", None))?;
        let now = request.received_at;
        let token = self.tokens.refresh_token(offered, now).await;
        let token = token.ok_or_else(|| refused("invalid refresh token", None))?;
        let known = self.users.renewable_session(&token).await?;
        let renewal = known.as_ref().map_or(Renewal::Over, |session| session.renewal(token.generation, now));
        match renewal {
            Renewal::Next | Renewal::Again => {}
            Renewal::Over => return Err(refused("ended session", Some(&token))),
            Renewal::Reused => {
                // Somebody else has the cookie, or had it: it isn't the person who ends the session.
                let origin = self.limits.guesses.origin(request, Actor::Linklet);
                self.users.end_session(&token.user, &token.session, &origin).await?;
                return Err(refused("used refresh token", Some(&token)));
            }
        }
        let account = self.users.account(&token.user).await?.ok_or(Problem::Unauthorized)?;
        self.require_usable(&account).await?;
        // A session that a password has begun, since those of identities have an end.
        let is_by_password = known.as_ref().is_none_or(|session| session.until.is_none());
        if is_by_password && !self.password_login.admits(&account, now) {
            return Err(refused("passwords are off", Some(&token)));
        }
        let membership = self.membership_to_renew(&account, workspace.as_deref()).await?;
        let until = known.as_ref().and_then(|session| session.until);
        let (session, expires_at) = (&token.session, ends_at(now.plus(lifetimes::RENEWABLE_TOKENS), until));
        let (user, email, membership) = (&account.id, &account.email, membership.as_ref());
        let issued = self.issuer.issue_until((session, expires_at), user, email, membership, now).await?;
        let successor = self.issuer.refresh_token(&token.successor(), now).await?;
        // Written last: what fails before leaves the client with a refresh token that is the latest.
        if renewal == Renewal::Next {
            self.advance(request, &token, known.as_ref(), &account).await?;
        }
        request.note_account(&account.id);
        Ok(self.address.with_cookie(token_view(&issued), request, &successor, kept(now, until)))
    }

    /// Begins a session at this time that can be renewed, by the word of an issuer if not by the password.
    pub(crate) async fn begin_renewable(
        &self,
        request: &Request,
        account: &Account,
        membership: Option<&Membership>,
        limit: Option<SessionLimit<'_>>,
        now: Timestamp,
    ) -> Result<Begun> {
        let session = SessionId::beginning_at(now);
        let first = RefreshToken::first_of(account.id, session);
        let until = limit.map(|limit| limit.until);
        let expires_at = ends_at(now.plus(lifetimes::RENEWABLE_TOKENS), until);
        let issued =
            self.issuer.issue_until((&session, expires_at), &account.id, &account.email, membership, now).await?;
        let refresh_token = self.issuer.refresh_token(&first, now).await?;
        self.begin_session(request, &account.id, &session, Some(first), limit).await?;
        Ok(Begun { session, issued, refresh_token, lasts: kept(now, until) })
    }

    /// The membership of the workspace with this slug, or else the oldest one, also for somebody who was removed from it.
    async fn membership_to_renew(&self, account: &Account, slug: Option<&str>) -> Result<Option<Membership>> {
        let mut memberships = self.users.memberships(&account.id).await?;
        memberships.retain(Membership::is_active);
        let named = match slug {
            Some(slug) => self.membership_at(&memberships, slug).await?.cloned(),
            None => None,
        };
        Ok(named.or_else(|| memberships.into_iter().next()))
    }

    /// Makes the successor of a refresh token the latest one.
    async fn advance(
        &self,
        request: &Request,
        token: &RefreshToken,
        known: Option<&RenewableSession>,
        account: &Account,
    ) -> Result<()> {
        let until = known.and_then(|session| session.until);
        let renewed = self.renewed(request, &token.successor(), until);
        let has_moved = known.is_some_and(|session| session.address != renewed.address);
        if !self.users.renew_session(token, &renewed).await? {
            // Another tab was faster, or the first try of this write was answered too late.
            let known = self.users.renewable_session(token).await?;
            let renewal = known.map_or(Renewal::Over, |session| session.renewal(token.generation, renewed.renewed_at));
            if renewal != Renewal::Again {
                return Err(refused("session ended meanwhile", Some(token)));
            }
        }
        if has_moved {
            self.limits.guesses.remember_proof(request, account.email.as_str()).await;
        }
        Ok(())
    }

    /// How far a session has come when this is its latest refresh token.
    fn renewed(&self, request: &Request, token: &RefreshToken, until: Option<Timestamp>) -> RenewableSession {
        let address = self.limits.guesses.network_hash(request);
        RenewableSession { generation: token.generation, renewed_at: request.received_at, address, until }
    }
}

/// Writes the line that says why a session was not renewed, and returns the error, which doesn't.
fn refused(reason: &'static str, token: Option<&RefreshToken>) -> ApiError {
    let user_id = token.map(|token| token.user.to_string());
    tracing::warn!(reason, user_id, "a session was not renewed");
    Problem::Unauthorized.into()
}
