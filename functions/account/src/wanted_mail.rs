//! Which notifications people get by mail, and how they get rid of them.

use linklet_domain::{Actor, GuessKind, MailChoice, ReportId, UnsubscribeToken};
use linklet_lambda::app;
use linklet_lambda::following::led_to;
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result, StatusCode, json, no_content};
use linklet_lambda::identity::Person;
use serde::{Deserialize, Serialize};

use crate::Account;

const TOKEN_INVALID: ApiError = ApiError::Problem(Problem::TokenInvalid);

impl Account {
    pub(crate) async fn show_wanted_mail(&self, person: &Person) -> Result<Response> {
        let mail = self.users.mail_choice(&person.user).await?.ok_or(Problem::Unauthorized)?;
        Ok(json(StatusCode::OK, &WantedMail { mail }))
    }

    pub(crate) async fn change_wanted_mail(&self, request: &Request, person: &Person) -> Result<Response> {
        let wanted = request.json_object()?.read_patch::<WantedMail>(&[])?;
        let origin = self.guesses.origin(request, person.actor());
        let is_there = self.users.choose_mail(&person.user, wanted.mail, &origin).await?;
        Problem::Unauthorized.unless(is_there)?;
        Ok(json(StatusCode::OK, &wanted))
    }

    /// Leads whoever follows the link in a mail to the page that asks. Programs that open each link must change nothing.
    pub(crate) fn show_unsubscribing(&self, request: &Request) -> Result<Response> {
        let (token, report) = (request.query("token").unwrap_or_default(), request.query("report"));
        led_to(&app::unsubscribe_page("..", token, report), StatusCode::SEE_OTHER)
    }

    /// Ends notifications by mail, or one report. Mail programs ask for it, without a session and with a form that nobody needs (RFC 8058).
    pub(crate) async fn unsubscribe(&self, request: &Request) -> Result<Response> {
        let token = request.query("token").unwrap_or_default();
        let Some(user) = UnsubscribeToken::person(token, &self.guesses.salt, request.received_at) else {
            // Only a wrong token is a guess: the servers of a mail provider bring the right ones of many people.
            return self
                .guesses
                .limit(request, Attempt { kind: GuessKind::Token, account: None }, async |_| Err(TOKEN_INVALID))
                .await;
        };
        let origin = self.guesses.origin(request, Actor::Person(user));
        match request.query("report") {
            // What is no report's id is no report that the person gets.
            Some(report) => {
                if let Ok(id) = ReportId::parse(report) {
                    self.users.end_report(&id, &user, &origin).await?;
                }
            }
            None if !self.users.choose_mail(&user, MailChoice::None, &origin).await? => return Err(TOKEN_INVALID),
            None => {}
        }
        request.note_account(&user);
        Ok(no_content())
    }
}

/// Which notifications somebody gets by mail, as it is shown and changed.
#[derive(Serialize, Deserialize)]
struct WantedMail {
    mail: MailChoice,
}
