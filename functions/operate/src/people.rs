//! What an operator does for people: invites the first ones, lets them set a new password where no mail is configured, and closes
//! their accounts. What was done is logged, with neither an address nor a token.

use std::collections::BTreeSet;
use std::time::Duration;

use linklet_domain::{
    AccountChange, AuditContext, CorrelationId, EmailAddress, KeysLeft, OneTimeToken, Role, Timestamp, TokenPurpose,
    UserId, Workspace, WorkspaceId, lifetimes,
};
use linklet_dynamodb::{MemberOutcome, NewToken, OneTimeTokens, Removal, Result, TokenDelivery, UsersTable};
use linklet_lambda::{app, email_requests::EmailRequests};

use super::OperateError;

/// The accounts of a stack.
pub struct People {
    /// The repository of accounts and invitations.
    pub users: UsersTable,
    /// The repository of tokens for new passwords.
    pub tokens: OneTimeTokens,
    /// Orders mails.
    pub mails: EmailRequests,
}

/// A token for somebody, and what it is for.
#[derive(Debug)]
pub struct Issued {
    /// The token, which only this has.
    pub token: OneTimeToken,
    email: EmailAddress,
    right: Right,
}

/// What a token lets its person do.
#[derive(Debug)]
enum Right {
    Register,
    SetPassword { unproved: Option<Unproved>, is_told: bool },
}

/// What an account has whose address nobody has shown to be theirs, so that somebody else may have made it.
#[derive(Debug)]
struct Unproved {
    keys: usize,
    members: usize,
    invitations: usize,
    /// Whether the new password reclaims the account.
    is_reclaimed: bool,
}

impl Unproved {
    /// What the operator has to know.
    fn help(&self) -> String {
        let Self { keys, members, invitations, is_reclaimed } = self;
        let consequence = if *is_reclaimed {
            "The new password pauses them, as the first proof of an address does."
        } else {
            "They stay as they are. If you know that the address is the person's, say RECLAIM=yes, and the new password pauses them."
        };
        format!(
            "Nobody has shown yet that the address is theirs, so somebody else may have made what the account has: API keys ({keys}), \
             other members ({members}), invitations ({invitations}). {consequence}"
        )
    }
}

impl People {
    /// Makes a token with which this address can register, and get a workspace of its own, whoever else may.
    ///
    /// # Errors
    /// When the address has an account, or the table can't be used.
    pub async fn invite(&self, email: &EmailAddress, now: Timestamp) -> Result<Issued, OperateError> {
        if self.users.is_taken(email).await? {
            return Err(OperateError::Registered);
        }
        let token = OneTimeToken::generate(TokenPurpose::Invitation)?;
        self.users.invite_to_register(email, &token.hash(), now).await?;
        tracing::info!("a token to register was made");
        Ok(Issued { token, email: email.clone(), right: Right::Register })
    }

    /// Makes a token with which the account of this address gets a new password. The operator has seen it, so it shows that the
    /// address is the person's only if the operator says so: then the account is reclaimed as by a mailed one.
    ///
    /// # Errors
    /// When the address has no account, or the table can't be used.
    pub async fn reset(&self, email: &EmailAddress, reclaims: bool, now: Timestamp) -> Result<Issued, OperateError> {
        let user = self.tokens.account_of(email).await?.ok_or(OperateError::NotRegistered)?;
        let is_proved = self.users.verified_at(&user).await?.is_some();
        let unproved = if is_proved { None } else { self.unproved(&user, reclaims, now).await? };
        let token = OneTimeToken::generate(TokenPurpose::Reset)?;
        let new = NewToken { hash: &token.hash(), user: &user, email, issued_at: now };
        let delivery = if reclaims { TokenDelivery::Mailed } else { TokenDelivery::Shown };
        let origin = AuditContext::command(now);
        let workspaces: Vec<_> = self.users.memberships(&user).await?.into_iter().map(|one| one.workspace).collect();
        self.users.show_reset(&new, delivery, &workspaces, &origin).await?;
        let is_told = self.tell_admins(&user, &workspaces, email, &origin.correlation_id).await?;
        tracing::info!(user_id = %user, "a token for a new password was made");
        Ok(Issued { token, email: email.clone(), right: Right::SetPassword { unproved, is_told } })
    }

    /// Tells the person, and all admins of their workspaces, that somebody got a way into the account. Returns whether mails are ordered.
    async fn tell_admins(
        &self,
        user: &UserId,
        workspaces: &[WorkspaceId],
        email: &EmailAddress,
        cause: &CorrelationId,
    ) -> Result<bool> {
        let mut told = BTreeSet::from([*user]);
        for workspace in workspaces {
            let members = self.users.members(workspace).await?;
            told.extend(members.iter().filter(|one| one.active_role() == Some(Role::Admin)).map(|one| one.user));
        }
        let told: Vec<_> = told.into_iter().collect();
        let untold = self.mails.tell_all(cause, &told, &AccountChange::ResetIssued { email: email.clone() }).await;
        Ok(self.mails.are_placed() && untold == 0)
    }

    async fn unproved(&self, user: &UserId, is_reclaimed: bool, now: Timestamp) -> Result<Option<Unproved>> {
        let mut found = Unproved { keys: 0, members: 0, invitations: 0, is_reclaimed };
        for (_, workspace) in self.users.workspaces_of(user).await? {
            let keys = self.users.keys(&workspace.id, now).await?;
            found.keys += keys.iter().filter(|key| key.created_by == *user).count();
            found.members += self.users.members(&workspace.id).await?.iter().filter(|one| one.user != *user).count();
            found.invitations += self.users.invitations(&workspace.id, now).await?.len();
        }
        Ok((found.keys + found.members + found.invitations > 0).then_some(found))
    }
}

/// By how much other clocks may be ahead: what an account has made by then goes with it.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(300);

impl People {
    /// Closes the account of an address: nobody logs in to it, sets its password or registers the address. Its sessions, API keys and
    /// invitations end, and its memberships as by leaving, but where no other admin is left. What was interrupted goes on when it is
    /// done again.
    ///
    /// # Errors
    /// When the address has no account, or the table can't be used.
    pub async fn close(&self, email: &EmailAddress) -> Result<Closed, OperateError> {
        let at = Timestamp::now().plus(CLOCK_DIFFERENCE);
        let origin = AuditContext::command(Timestamp::now());
        let user = self.users.close_account(email, at, &origin).await?.ok_or(OperateError::NotRegistered)?;
        let mut last_admin_of = Vec::new();
        for (_, workspace) in self.users.workspaces_of(&user).await? {
            self.users.revoke_keys(&workspace.id, &user, at, None, &origin).await?;
            self.users.withdraw_invitations_by(&workspace.id, &user, at, &origin).await?;
            let (caller, keys, origin) = (&user, KeysLeft::Revoked, origin.clone());
            let removal = Removal { workspace: &workspace.id, caller, user: &user, keys, at, origin };
            if self.users.remove_member(&removal).await? == MemberOutcome::LastAdmin {
                last_admin_of.push(workspace);
            }
        }
        tracing::info!(user_id = %user, "an account was closed");
        Ok(Closed { email: email.clone(), last_admin_of })
    }
}

/// An account that is closed.
#[derive(Debug)]
pub struct Closed {
    email: EmailAddress,
    /// The workspaces of which the person is the last admin still.
    pub last_admin_of: Vec<Workspace>,
}

impl Closed {
    /// What the operator has to know.
    pub fn help(&self) -> String {
        let mut help = format!(
            "The account of {} is closed. Within a minute, its sessions and API keys open nothing any more.",
            self.email
        );
        if !self.last_admin_of.is_empty() {
            help.push_str("\n\nIt stays a member where there is no other admin. Links there go on redirecting:\n");
        }
        for Workspace { name, slug, .. } in &self.last_admin_of {
            help.push_str(&format!("\n{slug} ({name})"));
        }
        help
    }
}

impl Issued {
    /// What the operator passes on: the page where the person chooses a password, which nobody else is to know.
    pub fn help(&self, base: &str) -> String {
        let Self { token, email, right } = self;
        let (page, does) = match right {
            Right::Register => (
                app::registration_page(base, email, token),
                format!("registers, once and within {} days", lifetimes::in_days(lifetimes::INVITATIONS)),
            ),
            Right::SetPassword { .. } => (
                app::page_with_token(base, "reset", token),
                format!("sets a new password, once and within {} minutes", lifetimes::PASSWORD_RESETS.as_secs() / 60),
            ),
        };
        let unproved = match right {
            Right::SetPassword { unproved: Some(unproved), .. } => format!("\n\n{}", unproved.help()),
            _ => String::new(),
        };
        let untold = match right {
            Right::SetPassword { is_told: false, .. } => {
                "\n\nThe admins of the person's workspaces could not be told by mail."
            }
            _ => "",
        };
        format!(
            "{page}\n\nOn this page, {email} {does}. The token in it, for programs:\n\n{}{unproved}{untold}",
            token.reveal()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(purpose: TokenPurpose, right: Right) -> Issued {
        let email = EmailAddress::parse("o'brien@example.com").unwrap();
        Issued { token: OneTimeToken::generate(purpose).unwrap(), email, right }
    }

    #[test]
    fn the_operator_passes_on_a_page_and_no_password() {
        for (issued, begin, means) in [
            (
                issued(TokenPurpose::Invitation, Right::Register),
                "https://go.example.com/app#/invitation?token={token}&email=o%27brien%40example.com\n",
                "o'brien@example.com registers, once and within 7 days.",
            ),
            (
                issued(TokenPurpose::Reset, Right::SetPassword { unproved: None, is_told: true }),
                "https://go.example.com/app#/reset?token={token}\n",
                "o'brien@example.com sets a new password, once and within 30 minutes.",
            ),
        ] {
            let (help, token) = (issued.help("https://go.example.com/"), issued.token.reveal());

            assert!(help.starts_with(&begin.replace("{token}", token)), "{help}");
            assert!(help.contains(means) && help.ends_with(&format!("\n\n{token}")), "{help}");
            assert!(!help.contains("curl") && !help.contains(r#""password""#), "{help}");
        }
    }
}
