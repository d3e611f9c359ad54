//! Mails with a token that invites into a workspace.
//!
//! These go to people who have not asked for them, so nobody can say much with them. Only who has confirmed their own address has
//! one sent, as often as the limits allow; and of what people have written themselves it shows a few plain words, which lead
//! nowhere.

use linklet_domain::{
    Changer, EmailAddress, EmailRequest, Invitation, InvitationId, MailCount, NotMailed, OneTimeToken, TokenPurpose,
    UserId, WorkspaceId, WorkspaceName,
};
use linklet_dynamodb::{MailAddress, Recipient};
use linklet_lambda::telemetry::warn_of;

use crate::addresses::{Addresses, Page};
use crate::mail::{Mail, MailKind};
use crate::mailer::Addressee;
use crate::{DeliveryError, Mailer, Notify};

impl Notify {
    /// Mails an invitation that is still open. The admin has another token, so nobody is told if there is no mail.
    pub(crate) async fn mail_invitation(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        (workspace, name): (&WorkspaceId, &WorkspaceName),
        id: &InvitationId,
    ) -> Result<(), DeliveryError> {
        let open = self.invitations.open(workspace, id, (self.clock)()).await?;
        let Some(invitation) = open else { return Ok(()) };
        let inviter = match self.people.find(&invitation.invited_by, workspace, (self.clock)()).await? {
            Recipient::Member(address) => address,
            Recipient::NoMember => None,
        };
        let Some(inviter) = inviter.as_ref().and_then(MailAddress::verified) else {
            tracing::info!(order_id = %order.order_id, "no mail: the inviter has not confirmed an address");
            return self.note_not_mailed(&invitation, NotMailed::InviterUnverified).await;
        };
        // Somebody who is invited may have an account, to whose address mails don't get.
        let account = self.tokens.account_of(&invitation.email).await?;
        if self.is_undeliverable(account.as_ref()).await? {
            tracing::info!(order_id = %order.order_id, "no mail: mail to the address has come back");
            // Only an account's address is known to be one, so the admin isn't told.
            return Ok(());
        }
        if let Some(why) = self.refuses_invitation(mailer, order, &invitation).await? {
            return self.note_not_mailed(&invitation, why).await;
        }
        let to = Addressee { email: &invitation.email, user: account.as_ref() };
        self.mail_invitation_token(mailer, &invitation, to, (inviter, name)).await
    }

    /// Lets the admin see why there is no mail.
    async fn note_not_mailed(&self, invitation: &Invitation, why: NotMailed) -> Result<(), DeliveryError> {
        Ok(self.invitations.note_not_mailed(invitation, why).await?)
    }

    /// Whether mail to the address of an account has come back, if there is one.
    pub(crate) async fn is_undeliverable(&self, account: Option<&UserId>) -> Result<bool, DeliveryError> {
        let Some(user) = account else { return Ok(false) };
        Ok(self.people.address(user, (self.clock)()).await?.is_some_and(|address| address.is_undeliverable))
    }

    async fn refuses_invitation(
        &self,
        mailer: &Mailer,
        order: &EmailRequest,
        invitation: &Invitation,
    ) -> Result<Option<NotMailed>, DeliveryError> {
        let (to, by, now) = (&invitation.email, &invitation.invited_by, (self.clock)());
        if !mailer.admits(&mailer.person(by), MailCount::InvitationsBySender, order, now).await? {
            return Ok(Some(NotMailed::LimitReached));
        }
        let is_admitted = mailer.admits(&mailer.reader(to), MailCount::Invitations, order, now).await?;
        Ok((!is_admitted).then_some(NotMailed::MailedRecently))
    }

    async fn mail_invitation_token(
        &self,
        mailer: &Mailer,
        invitation: &Invitation,
        to: Addressee<'_>,
        (inviter, workspace): (&EmailAddress, &WorkspaceName),
    ) -> Result<(), DeliveryError> {
        let token = OneTimeToken::generate(TokenPurpose::Invitation).map_err(DeliveryError::Token)?;
        // Somebody may have withdrawn or used it since it was read.
        if !self.invitations.add_mailed_token(invitation, &token.hash()).await? {
            return Ok(());
        }
        let mail = mail(&self.addresses, invitation, inviter, workspace, &token);
        mailer.send(&mail, to).await?;
        // Tried again, the mail would be sent twice.
        let noted = self.invitations.note_mailed(invitation, (self.clock)()).await;
        warn_of(noted, "it could not be noted that an invitation was mailed");
        Ok(())
    }
}

fn mail(
    addresses: &Addresses,
    invitation: &Invitation,
    inviter: &EmailAddress,
    workspace: &WorkspaceName,
    token: &OneTimeToken,
) -> Mail {
    let (inviter, workspace) = (plain_address(inviter).unwrap_or("Someone"), plain_name(workspace));
    Mail::new(MailKind::Invitation, "You're invited to a workspace")
        .paragraph(format!("{inviter} invited you to {workspace} in Linklet, a URL shortener."))
        .paragraph(format!("If you want to join, open this page before {}:", invitation.expires_at().day()))
        .button("View invitation", addresses.page(Page::Invitation, token))
        .token(token)
        .paragraph("If you don't know who this is, you can ignore this email.")
}

/// A workspace's name in few plain words.
pub(crate) fn plain_name(name: &WorkspaceName) -> String {
    let words = plain_words(name.as_str());
    if words.is_empty() { "a workspace".to_owned() } else { format!("the workspace “{words}”") }
}

/// What somebody else calls themselves, in few plain words.
pub(crate) fn plain_person(by: &Changer) -> String {
    let words = plain_words(by.called());
    if words.is_empty() { "someone else".to_owned() } else { words }
}

/// A name in few words without anything that a mail program makes a link or a telephone number of: whoever has chosen it may mean no
/// good.
pub(crate) fn plain_words(name: &str) -> String {
    const LONGEST: usize = 40;
    const DIGITS: usize = 4;
    let mut digits = 0;
    let plain = |character: char| {
        digits += usize::from(character.is_numeric());
        let is_plain = character.is_alphabetic() || (character.is_numeric() && digits <= DIGITS);
        if is_plain || matches!(character, '-' | '\'' | '’' | '&') { character } else { ' ' }
    };
    let words: String = name.chars().map(plain).collect();
    let words: String = words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
    words.trim_end().to_owned()
}

/// An address that somebody else has chosen, unless it looks like more than an address.
pub(crate) fn plain_address(address: &EmailAddress) -> Option<&str> {
    const LONGEST: usize = 64;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let local = address.local_part();
    let is_shown = address.as_str().len() <= LONGEST && local.bytes().all(is_plain) && !local.starts_with("www.");
    is_shown.then_some(address.as_str())
}

#[cfg(test)]
mod tests {
    use linklet_domain::FullName;

    use super::*;

    #[test]
    fn a_name_is_a_few_plain_words() {
        for (name, shown) in [
            ("Analytical Engines", "the workspace “Analytical Engines”"),
            ("Søren's Büro & 日本語 42", "the workspace “Søren's Büro & 日本語 42”"),
            ("Win! https://evil.example/x?y=1 now", "the workspace “Win https evil example x y 1 now”"),
            ("evil．example", "the workspace “evil example”"),
            ("evil。example", "the workspace “evil example”"),
            ("mail@evil.example", "the workspace “mail evil example”"),
            ("Call +49 (0)900 123 456", "the workspace “Call 49 0 9”"),
            ("evil\u{200b}.example", "the workspace “evil example”"),
            ("a”. You have won <b>", "the workspace “a You have won b”"),
            ("...", "a workspace"),
        ] {
            assert_eq!(plain_name(&WorkspaceName::parse(name).unwrap()), shown, "{name}");
        }
        let long = plain_name(&WorkspaceName::parse(&"x".repeat(100)).unwrap());
        assert_eq!(long, format!("the workspace “{}”", "x".repeat(40)));
    }

    #[test]
    fn a_person_is_a_few_plain_words_too() {
        for (name, shown) in [
            (Some("Ada Lovelace"), "Ada Lovelace"),
            (Some("https://evil.example/login your account is locked"), "https evil example login your account is"),
            (Some("..."), "someone else"),
            (None, "someone else"),
        ] {
            let name = name.map(|name| FullName::parse(name).unwrap());
            assert_eq!(plain_person(&Changer { name, ..Changer::in_person(&UserId::generate()) }), shown);
        }
    }

    #[test]
    fn an_address_that_says_more_is_not_shown() {
        for shown in ["ada@example.com", "ada.lovelace+links_1@mail.example.co.uk"] {
            assert_eq!(plain_address(&EmailAddress::parse(shown).unwrap()), Some(shown));
        }
        let long = format!("{}@example.com", "a".repeat(60));
        for hidden in ["www.evil.example@example.com", "evil.example/x@example.com", "\"see evil\"@example.com", &long]
        {
            assert_eq!(plain_address(&EmailAddress::parse(hidden).unwrap()), None, "{hidden}");
        }
    }
}
