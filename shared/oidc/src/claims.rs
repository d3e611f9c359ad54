//! What an ID token says, and whether that is true.

use std::time::Duration;

use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use linklet_domain::{EmailAddress, Timestamp};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::round_trip::Authentication;
use crate::{OidcError, RoundTrip, Settings};

/// How far the provider's clock may be from ours.
const SKEW: Duration = Duration::from_secs(60);

/// Maximum length of a subject (OpenID Connect Core, 2).
const MAX_SUBJECT: usize = 255;

/// Who somebody is, as their provider says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The provider's issuer.
    pub issuer: String,
    /// Who this is there. It is never somebody else's.
    pub subject: String,
    /// The person's address, if the provider says it and it can be one here.
    pub email: Option<EmailAddress>,
    /// Whether the person has shown that the address is theirs; `None` if the provider says nothing about that.
    pub email_verified: Option<bool>,
    /// The person's name, if the provider says it.
    pub name: Option<String>,
    /// The groups that the person is in; `None` if the provider says that there are too many to list, or they can't be read.
    pub groups: Option<Vec<String>>,
    /// The ID token, by which the provider knows whom it signs out.
    pub id_token: String,
}

/// What an ID token says of itself.
#[derive(Deserialize)]
pub(crate) struct Claims {
    iss: String,
    pub(crate) sub: String,
    #[serde(deserialize_with = "one_or_many")]
    aud: Vec<String>,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    auth_time: Option<f64>,
    nonce: Option<String>,
    #[serde(flatten)]
    profile: Profile,
}

/// What a provider says of a person, in the ID token or apart from it.
#[derive(Default, Deserialize)]
pub(crate) struct Profile {
    pub(crate) email: Option<String>,
    #[serde(default, deserialize_with = "is_true")]
    email_verified: Option<bool>,
    name: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Profile {
    /// Whether it says something of the person's groups, if only that there are too many.
    fn has_groups(&self, claim: &str) -> bool {
        self.others.contains_key(claim) || self.has_too_many_groups(claim)
    }

    /// Entra ID lists up to 200 groups, and otherwise says where the list is.
    fn has_too_many_groups(&self, claim: &str) -> bool {
        let is_elsewhere = self.others.get("_claim_names").is_some_and(|names| names.get(claim).is_some());
        is_elsewhere || self.others.get("hasgroups").is_some_and(|given| given == true || given == "true")
    }

    /// The groups under a claim, which is a list of texts or a single one; `None` if there are too many to list, or they can't be read.
    fn groups(&self, claim: &str) -> Option<Vec<String>> {
        if self.has_too_many_groups(claim) {
            return None;
        }
        let group = |value: &Value| value.as_str().map(str::to_owned);
        match self.others.get(claim) {
            Some(Value::Array(groups)) => groups.iter().map(group).collect(),
            None | Some(Value::Null) => Some(Vec::new()),
            Some(single) => group(single).map(|group| vec![group]),
        }
    }
}

impl Claims {
    /// What a token says, if this key has signed it by this algorithm. Nothing else is checked.
    pub(crate) fn signed(token: &str, key: &DecodingKey, algorithm: Algorithm) -> Result<Self, OidcError> {
        let mut signature_only = Validation::new(algorithm);
        signature_only.validate_exp = false;
        signature_only.validate_aud = false;
        signature_only.set_required_spec_claims::<&str>(&[]);
        let token = jsonwebtoken::decode(token, key, &signature_only);
        Ok(token.map_err(|_| OidcError::Token("the signature or a claim is invalid"))?.claims)
    }

    /// Refuses a token that isn't the answer to this round trip (OpenID Connect Core, 3.1.3.7).
    pub(crate) fn require(&self, settings: &Settings, trip: &RoundTrip, now: Timestamp) -> Result<(), OidcError> {
        let (now, skew) = (now.unix_seconds() as f64, SKEW.as_secs_f64());
        let is_alone = self.aud.len() == 1;
        let for_us = |azp: &String| *azp == settings.client_id;
        for (holds, otherwise) in [
            (self.iss == settings.issuer, "iss is another issuer"),
            (self.aud.contains(&settings.client_id), "aud lacks the client id"),
            (self.azp.as_ref().map_or(is_alone, for_us), "azp is another client"),
            (self.exp > now - skew, "it has expired"),
            (self.iat <= now + skew, "iat is in the future"),
            (self.nbf.is_none_or(|nbf| nbf <= now + skew), "nbf is in the future"),
            (self.nonce.as_ref() == Some(&trip.nonce), "the nonce is another one"),
            ((1..=MAX_SUBJECT).contains(&self.sub.len()), "sub is empty or too long"),
        ] {
            if !holds {
                return Err(OidcError::Token(otherwise));
            }
        }
        let Some(Authentication { since, must_be_said }) = trip.authentication else { return Ok(()) };
        match self.auth_time {
            Some(at) if at < since.unix_seconds() as f64 - skew => Err(OidcError::Stale),
            None if must_be_said => Err(OidcError::NoAuthTime),
            _ => Ok(()),
        }
    }

    /// Whether the token says all that is to be known: the person's address, and the groups if they are asked for.
    pub(crate) fn is_complete(&self, settings: &Settings) -> bool {
        let has_groups = |claim: &String| self.profile.has_groups(claim);
        self.profile.email.is_some() && settings.groups_claim.as_ref().is_none_or(has_groups)
    }

    /// Who that is, by the token, and by what the provider says apart from it.
    pub(crate) fn into_identity(self, apart: Option<Profile>, settings: &Settings, id_token: String) -> Identity {
        let says = |claim: &str| {
            let mut both = [Some(&self.profile), apart.as_ref()].into_iter().flatten();
            both.find(|profile| profile.has_groups(claim)).map(|profile| profile.groups(claim))
        };
        let groups = settings.groups_claim.as_deref().and_then(says).unwrap_or_else(|| Some(Vec::new()));
        let profile = apart.filter(|_| self.profile.email.is_none()).unwrap_or(self.profile);
        let Profile { email, email_verified, name, .. } = profile;
        let email = email.and_then(|email| EmailAddress::parse(&email).ok());
        Identity { issuer: self.iss, subject: self.sub, email, email_verified, name, groups, id_token }
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

/// Some providers write truth values as text. Anything else is no.
fn is_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    let given = Value::deserialize(deserializer)?;
    Ok(Some(given == true || given == "true"))
}
