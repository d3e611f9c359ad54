//! The sessions of a person: how one begins, which last, and ending one of them.

use linklet_domain::{
    Actor, AuditAction, AuditEntry, AuditSubject, CountryCode, LastingSession, RefreshToken, SessionId, SignInPlace,
    Timestamp, UserId,
};
use linklet_dynamodb::{LastingSessions, SignIn};
use linklet_lambda::audit_log;
use linklet_lambda::http::{Request, Response, Result, header, list_response, no_content};
use linklet_lambda::identity::Person;
use serde::Serialize;

use crate::Auth;
use crate::renewal::SessionLimit;

impl Auth {
    /// Stores that a session has begun with this request, by the word of an issuer if not by the password.
    pub(crate) async fn begin_session(
        &self,
        request: &Request,
        user: &UserId,
        session: &SessionId,
        first_token: Option<RefreshToken>,
        limit: Option<SessionLimit<'_>>,
    ) -> Result<()> {
        let place = self.place(request);
        let began =
            self.limits.guesses.origin(request, Actor::Person(*user)).of_person(user, AuditAction::SessionBegan);
        let began = began.on(AuditSubject::Session(*session)).at_place(place.device.clone(), place.country.clone());
        let began = AuditEntry { to: limit.and_then(|limit| limit.issuer).map(str::to_owned), ..began };
        let (address, until) = (self.limits.guesses.network_hash(request), limit.map(|limit| limit.until));
        let sign_in = SignIn { place, address, first_token, until };
        self.users.begin_session(user, session, sign_in).await?;
        audit_log::note(self.users.audit_log(), &began).await;
        Ok(())
    }

    /// Where somebody is who signs in, as they may recognise it.
    pub(crate) fn place(&self, request: &Request) -> SignInPlace {
        let device = request.header(header::USER_AGENT).and_then(linklet_visitors::described);
        SignInPlace { device, country: self.limits.guesses.edge.country(request) }
    }

    pub(crate) async fn list_sessions(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person(request).await?;
        let (user, own, now) = (&person.user, &person.session().id, request.received_at);
        let (limit, after) = (request.page_size_or(Request::MOST_OF_A_PAGE)?, request.after(SessionId::parse)?);
        let LastingSessions { mut sessions, has_more } = self.users.sessions(user, after.as_ref(), now).await?;
        let has_more = has_more || sessions.len() > limit;
        sessions.truncate(limit);
        let last = sessions.last().filter(|_| has_more).map(|session| session.id.to_string());
        // The first page has the one that asks, wherever it is in the list.
        let is_own = |session: &LastingSession| session.id == *own;
        match after {
            Some(_) => sessions.retain(|session| !is_own(session)),
            None if has_more && !sessions.iter().any(is_own) => {
                sessions.extend(self.users.session(user, own, now).await?);
            }
            None => {}
        }
        let sessions = sessions.iter().map(|session| SessionView::of(session, &person)).collect();
        Ok(list_response("sessions", sessions, request.next_page(last)))
    }

    /// Ends one of the caller's sessions, which may be the one that asks.
    pub(crate) async fn end_one(&self, request: &Request, id: &str) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let Ok(id) = SessionId::parse(id) else { return Ok(no_content()) };
        let origin = self.limits.guesses.origin(request, person.actor());
        if self.users.end_lasting_session(&person.user, &id, &origin).await? {
            self.tokens.forget(&id);
        }
        Ok(no_content())
    }
}

#[derive(Serialize)]
struct SessionView<'a> {
    id: &'a SessionId,
    began_at: Timestamp,
    renewed_at: Option<Timestamp>,
    expires_at: Timestamp,
    device: Option<&'a str>,
    country: Option<&'a CountryCode>,
    is_current: bool,
    remembered: bool,
}

impl<'a> SessionView<'a> {
    fn of(session: &'a LastingSession, person: &Person) -> Self {
        let LastingSession { id, place, renewed_at, ends_at } = session;
        Self {
            id,
            began_at: id.began_at(),
            renewed_at: *renewed_at,
            expires_at: *ends_at,
            device: place.device.as_deref(),
            country: place.country.as_ref(),
            is_current: *id == person.session().id,
            remembered: renewed_at.is_some(),
        }
    }
}
