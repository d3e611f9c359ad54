//! What an operator does for people: invites the first ones, and lets them set a new password where no mail is configured.
//!
//! Whoever may write to UsersTable may do this. So no route is needed that makes somebody an operator.

use linklet_domain::{EmailAddress, OneTimeToken, Timestamp, TokenPurpose, lifetimes};
use linklet_dynamodb::{NewToken, OneTimeTokensTable, RepositoryError, TokenDelivery, UsersTable};
use serde_json::json;

/// The accounts of a stack.
pub struct People {
    /// The repository of accounts and invitations.
    pub users: UsersTable,
    /// The repository of tokens for new passwords.
    pub tokens: OneTimeTokensTable,
}

/// Why somebody gets no token.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The table can't be read or written.
    #[error("the table of accounts can't be used")]
    Table(#[from] RepositoryError),
    /// There is no randomness.
    #[error("no token can be generated")]
    Randomness(#[from] getrandom::Error),
    /// Somebody has registered with the address.
    #[error("somebody has registered with this address already")]
    Registered,
    /// Nobody has registered with the address.
    #[error("nobody has registered with this address")]
    NotRegistered,
}

/// A token for somebody, and what it is for.
#[derive(Debug)]
pub struct Issued {
    /// The token, which only this has.
    pub token: OneTimeToken,
    email: EmailAddress,
    purpose: TokenPurpose,
}

impl People {
    /// Makes a token with which this address can register, and get a workspace of its own, whoever else may.
    ///
    /// # Errors
    /// When the address has an account, or the table can't be used.
    pub async fn invite(&self, email: &EmailAddress, now: Timestamp) -> Result<Issued, PeopleError> {
        if self.users.is_taken(email).await? {
            return Err(PeopleError::Registered);
        }
        let issued = Issued::new(TokenPurpose::Invitation, email)?;
        self.users.invite_to_register(email, &issued.token.hash(), now).await?;
        Ok(issued)
    }

    /// Makes a token with which the account of this address gets a new password. It doesn't show that the address is the person's,
    /// since the operator has seen it.
    ///
    /// # Errors
    /// When the address has no account, or the table can't be used.
    pub async fn reset(&self, email: &EmailAddress, now: Timestamp) -> Result<Issued, PeopleError> {
        let user = self.tokens.account_of(email).await?.ok_or(PeopleError::NotRegistered)?;
        let issued = Issued::new(TokenPurpose::Reset, email)?;
        let token = NewToken { hash: &issued.token.hash(), user: &user, email, issued_at: now };
        self.tokens.issue_reset(&token, TokenDelivery::Shown).await?;
        Ok(issued)
    }
}

impl Issued {
    fn new(purpose: TokenPurpose, email: &EmailAddress) -> Result<Self, getrandom::Error> {
        Ok(Self { token: OneTimeToken::generate(purpose)?, email: email.clone(), purpose })
    }

    /// What the operator passes on: the token, and a command that uses it.
    #[must_use]
    pub fn help(&self, api: &str) -> String {
        const PASSWORD: &str = "choose a long one";
        let (api, token, email) = (api.trim_end_matches('/'), self.token.reveal(), &self.email);
        let (means, route, body) = match self.purpose {
            TokenPurpose::Reset => (
                format!("sets a new password, once and for {} minutes", lifetimes::PASSWORD_RESETS.as_secs() / 60),
                "/api/auth/password/reset",
                json!({"token": token, "password": PASSWORD}),
            ),
            TokenPurpose::Invitation | TokenPurpose::Verification => (
                format!("registers, once and for {} days", lifetimes::in_days(lifetimes::INVITATIONS)),
                "/api/auth/register",
                json!({"email": email, "password": PASSWORD, "invitation": token}),
            ),
        };
        let command = format!("curl --json {} {}", quoted(&body.to_string()), quoted(&format!("{api}{route}")));
        format!("{token}\n\nWith this token, {email} {means}:\n\n{command}")
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_one_for_a_shell_whatever_the_address_is() {
        let email = EmailAddress::parse("o'brien@example.com").unwrap();
        let issued = Issued::new(TokenPurpose::Invitation, &email).unwrap();

        let help = issued.help("https://api.example.com/");

        let token = issued.token.reveal();
        assert!(help.starts_with(&format!("{token}\n")), "{help}");
        let body =
            format!(r#"'{{"email":"o'\''brien@example.com","invitation":"{token}","password":"choose a long one"}}'"#);
        assert!(help.ends_with(&format!("\ncurl --json {body} 'https://api.example.com/api/auth/register'")), "{help}");
    }
}
