//! What somebody is shown and changes of themselves: name and address.

use linklet_domain::{
    Account, Actor, EmailAddress, FullName, GuessKind, OneTimeToken, RequestedEmail, Timestamp, TokenPurpose,
    TypedPassword, UserId, lifetimes, optional, patched,
};
use linklet_dynamodb::{AddressStep, PersonChange, PersonOutcome, Profile};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{Immutable, Problem, Request, Response, Result, StatusCode, json, no_content};
use linklet_lambda::identity::Person;
use linklet_lambda::proofs::Purpose;
use serde::Deserialize;
use serde_json::json;

use crate::{Auth, reset::TOKEN_INVALID};

impl Auth {
    pub(crate) async fn me(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person(request).await?;
        self.show(request, &person).await
    }

    async fn show(&self, request: &Request, person: &Person) -> Result<Response> {
        let profile = self.users.profile(&person.user, request.received_at).await?;
        let Profile { email, pending, full_name, verified_at, undeliverable_at, last_login_at, updated_at, .. } =
            profile.ok_or(Problem::Unauthorized)?;
        let (workspace, role) = person.membership().unzip();
        Ok(json(
            StatusCode::OK,
            &json!({
                "user_id": &person.user,
                "email": email,
                "pending_email": pending.as_ref().map(|pending| &pending.email),
                "pending_until": pending.as_ref().map(|pending| pending.until),
                "full_name": full_name,
                "verified": verified_at.is_some(),
                "undeliverable": undeliverable_at.is_some(),
                "last_login_at": last_login_at,
                "updated_at": updated_at,
                "workspace_id": workspace,
                "role": role,
            }),
        ))
    }

    /// Changes the caller's name at once. Another address needs the password, and waits for the token that is mailed to it, where mail
    /// is configured. The answer is the same whether or not that address has an account.
    pub(crate) async fn change_me(&self, request: &Request) -> Result<Response> {
        let person = self.tokens.person_now(request).await?;
        let wanted: Body = request.json_object()?.read_patch(&[IMMUTABLE])?;
        let account = self.users.account(&person.user).await?.ok_or(Problem::Unauthorized)?;
        match wanted.email.as_ref().filter(|email| **email != account.email) {
            Some(email) => self.change_address(request, &person, &account, &wanted, email).await?,
            None => {
                let address = if wanted.email.is_some() { AddressStep::Keep } else { AddressStep::None };
                self.change_person(request, &account, &wanted, address).await?;
            }
        }
        self.show(request, &person).await
    }

    async fn change_person(
        &self,
        request: &Request,
        account: &Account,
        wanted: &Body,
        address: AddressStep,
    ) -> Result<()> {
        let change = PersonChange { full_name: wanted.full_name.clone(), address };
        let origin = self.limits.guesses.origin(request, Actor::Person(account.id));
        match self.users.change_person(&account.id, &change, &origin).await? {
            PersonOutcome::Changed => Ok(()),
            PersonOutcome::EmailTaken => Err(Problem::EmailTaken.into()),
            PersonOutcome::NoAccount => Err(Problem::Unauthorized.into()),
        }
    }

    async fn change_address(
        &self,
        request: &Request,
        person: &Person,
        account: &Account,
        wanted: &Body,
        email: &EmailAddress,
    ) -> Result<()> {
        Problem::RegistrationClosed.unless(self.registration.admits_instead(email))?;
        let guesses = &self.limits.guesses;
        let purpose = Purpose::refused_as("wrong password for another address");
        // Each request may tell whether an address has an account, to whoever reads its mail or is told that it is taken.
        let take = async |_| {
            self.proofs().require_of(request, person.acting(), account, wanted.password.as_ref(), purpose).await?;
            self.want_address(request, account, wanted, email).await
        };
        let mail =
            async |_| guesses.limit(request, Attempt { kind: GuessKind::Registration, account: None }, take).await;
        if self.mails.are_placed() {
            guesses.limit(request, Attempt { kind: GuessKind::Mail, account: None }, mail).await
        } else {
            mail(None).await
        }
    }

    /// Has an address wait until somebody shows that they read its mail; without mail, it is the account's at once.
    async fn want_address(
        &self,
        request: &Request,
        account: &Account,
        wanted: &Body,
        email: &EmailAddress,
    ) -> Result<()> {
        if !self.mails.are_placed() {
            return self.change_person(request, account, wanted, AddressStep::Replace(email.clone())).await;
        }
        // Hashing has taken a while, and the token that is mailed soon works as long.
        let until = Timestamp::now().plus(lifetimes::ADDRESS_VERIFICATIONS);
        self.change_person(request, account, wanted, AddressStep::Await(email.clone(), until)).await?;
        // Whoever has the address is told first: that is what the order is for if somebody else has the password.
        let (user_id, email) = (account.id, email.clone());
        self.mails.place(request, RequestedEmail::AddressChangeNotice { user_id, email: email.clone() }).await?;
        self.mails.place(request, RequestedEmail::AddressChange { user_id, email }).await
    }

    /// Has no other address wait any more, for whoever has the token that was mailed to the present one.
    pub(crate) async fn keep_address(&self, request: &Request) -> Result<Response> {
        let Kept { token } = request.json()?;
        let keep = async |_| {
            let token = OneTimeToken::parse(TokenPurpose::Keep, &token).map_err(|_| TOKEN_INVALID)?;
            let origin_of = |user: &UserId| self.limits.guesses.origin(request, Actor::Person(*user));
            let user = self.users.keep_address(&token.hash(), request.received_at, origin_of).await?;
            request.note_account(&user.ok_or(TOKEN_INVALID)?);
            Ok(no_content())
        };
        self.limits.guesses.limit(request, Attempt { kind: GuessKind::Token, account: None }, keep).await
    }
}

/// What nobody can change of themselves here.
const IMMUTABLE: Immutable = Immutable {
    members: &[
        "id",
        "user_id",
        "pending_email",
        "pending_until",
        "verified",
        "undeliverable",
        "last_login_at",
        "created_at",
        "updated_at",
        "workspace_id",
        "role",
    ],
    sentence: None,
};

/// The body of a request to change oneself.
#[derive(Deserialize)]
struct Body {
    #[serde(default, deserialize_with = "patched")]
    full_name: Option<Option<FullName>>,
    #[serde(default, deserialize_with = "optional")]
    email: Option<EmailAddress>,
    /// As it was typed, since a wrong one is a wrong guess rather than an invalid request.
    #[serde(default, deserialize_with = "optional")]
    password: Option<TypedPassword>,
}

/// The body of a request to keep an address.
#[derive(Deserialize)]
struct Kept {
    /// A `String`, since text that can't be a token is an unknown token rather than an invalid request.
    token: String,
}
