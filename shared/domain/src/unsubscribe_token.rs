//! The token in mails by which somebody gets no more notifications by mail, and can do nothing else.
//!
//! All mails of a month have the same, so it isn't stored as a token that works once is: it says itself whose it is and how long it
//! works, and a MAC shows that it was made here.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _, digest::Key};
use sha2::Sha256;

use crate::{Day, Salt, Timestamp, UserId, validated::Hidden};

/// A token in plain text: a prefix, and in base64url the person, the last day on which it works, and a MAC over both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubscribeToken(Hidden);

impl UnsubscribeToken {
    const PREFIX: &str = "uns_";
    /// What else is made with the salt doesn't begin like this.
    const PURPOSE: &[u8] = b"linklet unsubscribe\0";
    const PERSON: usize = 16;
    const CLAIMS: usize = Self::PERSON + 2;
    /// Half of SHA-256, as RFC 2104 allows: 128 bits, and a line that mail programs don't break.
    const MAC: usize = 16;
    /// Length in characters.
    pub const LENGTH: usize = Self::PREFIX.len() + ((Self::CLAIMS + Self::MAC) * 4).div_ceil(3);
    /// For how many days after the end of its month a token works.
    pub const DAYS_AFTER_MONTH: u16 = 60;

    /// The token in mails to a person in the month of this time.
    pub fn of(user: &UserId, at: Timestamp, salt: &Salt) -> Self {
        let last_day = number_of(at.day().end_of_month()).saturating_add(Self::DAYS_AFTER_MONTH);
        let claims = [&user.to_bytes()[..], &last_day.to_be_bytes()].concat();
        let mac = Self::mac(&claims, salt).finalize().into_bytes();
        let bytes = [&claims[..], &mac[..Self::MAC]].concat();
        Self(Hidden(format!("{}{}", Self::PREFIX, URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// Whose token a text is; `None` if it wasn't made with this salt, or doesn't work any more.
    pub fn person(text: &str, salt: &Salt, now: Timestamp) -> Option<UserId> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix(Self::PREFIX)?).ok()?;
        let (claims, mac) = bytes.split_at_checked(Self::CLAIMS).filter(|(_, mac)| mac.len() == Self::MAC)?;
        // In a time that doesn't depend on where the first difference is.
        Self::mac(claims, salt).verify_truncated_left(mac).ok()?;
        let (person, last_day) = claims.split_at(Self::PERSON);
        let works = number_of(now.day()) <= u16::from_be_bytes(last_day.try_into().ok()?);
        UserId::from_bytes(person).ok().filter(|_| works)
    }

    /// The token in plain text, for the mail that has it.
    pub fn reveal(&self) -> &str {
        &self.0.0
    }

    fn mac(claims: &[u8], salt: &Salt) -> Hmac<Sha256> {
        // HMAC pads a key that is shorter than its block with zeros.
        let mut key = Key::<Hmac<Sha256>>::default();
        key.iter_mut().zip(salt.key_for(Self::PURPOSE)).for_each(|(byte, of_key)| *byte = of_key);
        Hmac::new(&key).chain_update(claims)
    }
}

/// The day as the number of days since 1970, which fits until 2149.
fn number_of(day: Day) -> u16 {
    const A_DAY: i64 = 24 * 60 * 60;
    u16::try_from((day.start().unix_seconds() / A_DAY).max(0)).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn salt() -> Salt {
        Salt::parse(&"salt".repeat(8)).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn person(token: &str, now: &str) -> Option<UserId> {
        UnsubscribeToken::person(token, &salt(), at(now))
    }

    #[test]
    fn all_mails_to_a_person_in_a_month_share_one_token() {
        let (ada, bob) = (UserId::generate(), UserId::generate());
        let of = |user: &UserId, time: &str| UnsubscribeToken::of(user, at(time), &salt());

        let first = of(&ada, "2026-02-01T00:00:00Z");

        assert_eq!(first, of(&ada, "2026-02-28T23:59:59.999Z"));
        assert_ne!(first, of(&ada, "2026-03-01T00:00:00Z"));
        assert_ne!(first, of(&bob, "2026-02-01T00:00:00Z"));
        assert_eq!(first.reveal().len(), UnsubscribeToken::LENGTH);
        assert_eq!(format!("{first:?}"), "UnsubscribeToken(…)");
    }

    #[test]
    fn a_token_works_until_60_days_after_its_month() {
        let ada = UserId::generate();
        for (month, last, over) in [
            ("2026-02-01T00:00:00Z", "2026-04-29T23:59:59Z", "2026-04-30T00:00:00Z"),
            ("2024-02-29T12:00:00Z", "2024-04-29T23:59:59Z", "2024-04-30T00:00:00Z"),
            ("2026-12-31T23:59:59Z", "2027-03-01T23:59:59Z", "2027-03-02T00:00:00Z"),
        ] {
            let token = UnsubscribeToken::of(&ada, at(month), &salt());
            assert_eq!(person(token.reveal(), month), Some(ada), "{month}");
            assert_eq!(person(token.reveal(), last), Some(ada), "{month}");
            assert_eq!(person(token.reveal(), over), None, "{month}");
        }
    }

    #[test]
    fn nobody_makes_a_token_without_the_salt_or_of_another_one() {
        const NOW: &str = "2026-03-02T12:00:00Z";
        let token = UnsubscribeToken::of(&UserId::generate(), at(NOW), &salt());
        let bytes = URL_SAFE_NO_PAD.decode(token.reveal().strip_prefix("uns_").unwrap()).unwrap();

        for changed in 0..bytes.len() {
            let mut forged = bytes.clone();
            forged[changed] ^= 1;
            assert_eq!(person(&format!("uns_{}", URL_SAFE_NO_PAD.encode(forged)), NOW), None, "byte {changed}");
        }
        for length in 0..bytes.len() {
            let cut = format!("uns_{}", URL_SAFE_NO_PAD.encode(&bytes[..length]));
            assert_eq!(person(&cut, NOW), None, "the first {length} bytes");
        }
        let other = Salt::parse(&"tlas".repeat(8)).unwrap();
        assert_eq!(UnsubscribeToken::person(token.reveal(), &other, at(NOW)), None);
    }

    #[test]
    fn what_is_no_token_is_nobodys() {
        let token = UnsubscribeToken::of(&UserId::generate(), Timestamp::now(), &salt());
        let token = token.reveal();
        let upper = token.to_uppercase();
        for refused in
            ["", "uns_", "uns_é", "rst_00000000000000000000000000000000", &token[4..], &upper, &format!("{token}A")]
        {
            assert_eq!(UnsubscribeToken::person(refused, &salt(), Timestamp::now()), None, "{refused}");
        }
    }
}
