//! Showing that an address is one's own.

use linklet_domain::{
    Actor, EmailAddress, GuessKind, HashFor, Invalid, OneTimeToken, Password, PasswordLogin, RequestedEmail, Timestamp,
    TokenPurpose, TypedPassword, UserId, optional,
};
use linklet_dynamodb::{AddressVerification, VerifyOutcome};
use linklet_lambda::guesses::Attempt;
use linklet_lambda::http::{ApiError, Belonging, Problem, Request, Response, Result, accepted, header, no_content};
use linklet_lambda::proofs::Purpose;
use linklet_lambda::telemetry::warn_of;
use serde::Deserialize;

use crate::{Auth, reset::TOKEN_INVALID};

impl Auth {
    /// Records that an address is its account's person's. It takes two proofs: the mailed token shows that somebody reads the
    /// address's mail, and a session or the password that the account is theirs. Otherwise whoever has registered somebody else's
    /// address could log in as soon as that person, or a program that looks at their mail, follows the link. An account without a
    /// password is nobody's yet, and gets the one that comes with the token.
    pub(crate) async fn verify_address(&self, request: &Request) -> Result<Response> {
        let Verification { token, password } = request.json()?;
        let proof = match password {
            Some(password) => Proof::Password(password),
            None => Proof::Session(self.session_of(request).await?),
        };
        let find = async |_| self.verification_by(request, &token).await;
        let found = self.limits.guesses.limit(request, Attempt { kind: GuessKind::Token, account: None }, find).await?;
        match proof {
            Proof::Session(person) if person == found.user => self.verify(request, &found, None).await,
            Proof::Session(_) => Err(ApiError::Forbidden(Belonging::Account)),
            Proof::Password(password) => self.verify_by_password(request, &found, &password).await,
        }
    }

    /// Whose session a request has.
    async fn session_of(&self, request: &Request) -> Result<UserId> {
        if !request.has_header(header::AUTHORIZATION) {
            let sentence = "password is required without a token of the account's session";
            return Err(Invalid::new(sentence).in_field("password").into());
        }
        Ok(self.tokens.person_now(request).await?.user)
    }

    async fn verification_by(&self, request: &Request, token: &str) -> Result<AddressVerification> {
        let token = OneTimeToken::parse(TokenPurpose::Verification, token).map_err(|_| TOKEN_INVALID)?;
        let found = self.users.verification(&token.hash(), request.received_at).await?;
        found.ok_or(TOKEN_INVALID)
    }

    async fn verify_by_password(
        &self,
        request: &Request,
        found: &AddressVerification,
        password: &TypedPassword,
    ) -> Result<Response> {
        let account = self.users.account(&found.user).await?.ok_or(TOKEN_INVALID)?;
        if account.password_hash.is_none() {
            return self.choose_password(request, found, password).await;
        }
        let purpose = Purpose::refused_as("wrong password beside a mailed token");
        self.proofs().require(request, &account, password, purpose).await?;
        self.verify(request, found, None).await
    }

    /// Sets the first password of an account that has none. Nothing is guessed here, but hashing has its budget.
    async fn choose_password(
        &self,
        request: &Request,
        found: &AddressVerification,
        password: &TypedPassword,
    ) -> Result<Response> {
        Problem::PasswordLoginOff.when(self.password_login == PasswordLogin::Off)?;
        let in_password = |refused: Invalid| refused.in_field("password");
        let password = Password::try_from(password.clone()).map_err(in_password)?;
        password.refuse_guessable(&found.email).map_err(in_password)?;
        let hash = self.first_hash(request, &found.email, &password, Some(HashFor::Strangers)).await?;
        let verified = self.verify(request, found, Some(&hash)).await?;
        self.limits.guesses.remember_proof(request, found.email.as_str()).await;
        Ok(verified)
    }

    async fn verify(
        &self,
        request: &Request,
        found: &AddressVerification,
        first_password: Option<&str>,
    ) -> Result<Response> {
        // Hashing has taken a while.
        let origin = self.limits.guesses.origin(request, Actor::Person(found.user));
        match self.users.verify_with(found, first_password, Timestamp::now(), &origin).await? {
            VerifyOutcome::Verified => {
                request.note_account(&found.user);
                Ok(no_content())
            }
            VerifyOutcome::Replaced { verified } => {
                request.note_account(&found.user);
                self.limits.guesses.remember_proof(request, found.email.as_str()).await;
                if let Some(old) = verified {
                    self.tell_at_old_address(request, &found.user, old).await;
                }
                Ok(no_content())
            }
            VerifyOutcome::EmailTaken => Err(Problem::EmailTaken.into()),
            VerifyOutcome::TokenInvalid => Err(TOKEN_INVALID),
            // Another mailed token was faster. The next try takes the password for what it is then.
            VerifyOutcome::PasswordChosen => Err(Problem::TryAgain.into()),
        }
    }

    /// 202, whatever the address is: a mail follows if it has an account that isn't verified. Who is logged in has it sent to the
    /// address that they want instead of their own, unless they name that; others name one, since there may be no logging in before.
    pub(crate) async fn request_verification(&self, request: &Request) -> Result<Response> {
        let mail = if request.has_header(header::AUTHORIZATION) {
            let user_id = self.tokens.person(request).await?.user;
            let named = if request.has_body() { request.json::<AnotherMailBody>()?.email } else { None };
            let mailbox = self.users.mailbox(&user_id, request.received_at).await?.ok_or(Problem::Unauthorized)?;
            match mailbox.pending.filter(|_| named.as_ref() != Some(&mailbox.email)) {
                Some(pending) => RequestedEmail::AddressChange { user_id, email: pending.email },
                None => RequestedEmail::Verification { email: mailbox.email },
            }
        } else {
            RequestedEmail::Verification { email: request.json::<Requested>()?.email }
        };
        let order = async |_| self.mails.place(request, mail.clone()).await;
        self.limits.guesses.limit(request, Attempt { kind: GuessKind::Mail, account: None }, order).await?;
        Ok(accepted())
    }

    /// Has whoever reads the mail of an address told that it is no longer that of the account. The change stands without that, so a
    /// failure is only logged.
    pub(crate) async fn tell_at_old_address(&self, request: &Request, user: &UserId, old: EmailAddress) {
        let order = RequestedEmail::AddressChanged { user_id: *user, old };
        warn_of(self.mails.place(request, order).await, "the mail about a changed address could not be ordered");
    }

    /// Orders the first mail to a new account. It can be ordered again, so the registration doesn't fail with it.
    pub(crate) async fn welcome(&self, request: &Request, email: &EmailAddress) {
        let order = RequestedEmail::Verification { email: email.clone() };
        warn_of(self.mails.place(request, order).await, "the first mail to a new account could not be ordered");
    }
}

/// The body of a request that verifies an address.
#[derive(Deserialize)]
struct Verification {
    /// A `String`, since text that can't be a token is an unknown token rather than an invalid request.
    token: String,
    /// As it was typed, since a wrong one is a wrong guess rather than an invalid request, unless it is the first one.
    #[serde(default, deserialize_with = "optional")]
    password: Option<TypedPassword>,
}

/// What shows, beside a mailed token, that an account is somebody's.
enum Proof {
    Session(UserId),
    Password(TypedPassword),
}

/// The body of a request for another mail.
#[derive(Deserialize)]
struct Requested {
    email: EmailAddress,
}

/// The body of a request for another mail from somebody whose address is known.
#[derive(Deserialize)]
struct AnotherMailBody {
    #[serde(default, deserialize_with = "optional")]
    email: Option<EmailAddress>,
}
