//! Showing that an address is one's own.

use linklet_domain::{EmailAddress, EventDetail, OneTimeToken, TokenPurpose, VerificationRequested};
use linklet_lambda::{
    guesses::Attempt,
    http::{ApiError, Request, Response, accepted, header, no_content},
    telemetry::chain,
};
use serde::Deserialize;

use crate::{Auth, BODY_LIMIT, reset::TOKEN_INVALID};

impl Auth {
    /// Records that an address is its account's person's, who reads its mail: the mailed token shows it.
    pub(crate) async fn verify_address(&self, request: &Request) -> Result<Response, ApiError> {
        let Verification { token } = request.json(BODY_LIMIT)?;
        let verify = async |_| {
            let token = OneTimeToken::parse(TokenPurpose::Verification, &token).map_err(|_| TOKEN_INVALID)?;
            let is_verified = self.users.verify_with(&token.hash(), request.received_at()).await?;
            if is_verified { Ok(no_content()) } else { Err(TOKEN_INVALID) }
        };
        self.limits.guesses.limit(request, Attempt::at_token(), verify).await
    }

    /// 202, whatever the address is: a mail follows if it has an account that isn't verified. Who is logged in has it sent to their
    /// own address; others name one, since there may be no logging in before.
    pub(crate) async fn request_verification(&self, request: &Request) -> Result<Response, ApiError> {
        let email = if request.has_header(header::AUTHORIZATION) {
            self.tokens.authenticate(request).await?.email().clone()
        } else {
            request.json::<Requested>(BODY_LIMIT)?.email
        };
        let order = async |_| self.order_verification(request, &email).await;
        self.limits.guesses.limit(request, Attempt::at_mailing(), order).await?;
        Ok(accepted())
    }

    async fn order_verification(&self, request: &Request, email: &EmailAddress) -> Result<(), ApiError> {
        let order = VerificationRequested { email: email.clone() };
        self.mails.place(request, EventDetail::VerificationRequested(order)).await
    }

    /// Orders the first mail to a new account. It can be ordered again, so the registration doesn't fail with it.
    pub(crate) async fn welcome(&self, request: &Request, email: &EmailAddress) {
        if let Err(error) = self.order_verification(request, email).await {
            tracing::warn!(error = chain(&error), "the first mail to a new account could not be ordered");
        }
    }
}

/// The body of a request that verifies an address.
#[derive(Deserialize)]
struct Verification {
    /// A `String`, since text that can't be a token is an unknown token rather than an invalid request.
    token: String,
}

/// The body of a request for another mail.
#[derive(Deserialize)]
struct Requested {
    email: EmailAddress,
}
