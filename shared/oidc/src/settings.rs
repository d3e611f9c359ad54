//! Which providers there are.

use std::fmt;

use linklet_domain::{Invalid, Reach, TargetUrl};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// The name of a provider in paths, such as `entra-id`: its name in lower case, with `-` for what is no letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProviderId(String);

impl ProviderId {
    /// The id of a provider with this name; `None` if the name has neither a letter nor a digit of ASCII.
    fn of(name: &str) -> Option<Self> {
        let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let id = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
        (!id.is_empty()).then_some(Self(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A provider as operators configure it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What people call it.
    pub name: String,
    /// What paths call it.
    pub id: ProviderId,
    /// Its issuer, to the letter.
    pub issuer: String,
    /// What it calls Linklet.
    pub client_id: String,
    /// What it is asked for: `openid`, and other scopes separated by spaces.
    pub scope: String,
    /// The claim that has people's groups, if they are to be known.
    pub groups_claim: Option<String>,
}

impl Settings {
    /// How many providers there may be.
    pub const MOST: usize = 3;

    /// Reads lists, separated by commas, whose first items are of the first provider, and so on. One item of scopes is for all. An issuer is https. Where loopback
    /// addresses are reached, it may also be http on this machine.
    ///
    /// # Errors
    /// When the lists have different lengths or more than three items, something in them is invalid, or two providers would be the same.
    pub fn parse_all(
        issuers: &str,
        client_ids: &str,
        names: &str,
        scopes: &str,
        reach: Reach,
    ) -> Result<Vec<Self>, Invalid> {
        let [issuers, client_ids, names] = [issuers, client_ids, names].map(items);
        let is_even = issuers.len() == client_ids.len() && issuers.len() == names.len();
        Invalid::unless(is_even, "each identity provider needs an issuer, a client id and a name")?;
        Invalid::when(issuers.len() > Self::MOST, "there may be three identity providers")?;
        let mut scopes = items(scopes);
        if let &[for_all] = scopes.as_slice() {
            scopes = vec![for_all; issuers.len()];
        }
        Invalid::unless(scopes.len() == issuers.len(), "scopes must be for all identity providers, or for each")?;
        let mut all = Vec::<Self>::new();
        for (((issuer, client_id), name), scope) in issuers.into_iter().zip(client_ids).zip(names).zip(scopes) {
            let scope: Vec<_> = scope.split_whitespace().collect();
            Invalid::unless(scope.contains(&"openid"), "the scopes must have openid")?;
            Invalid::unless(is_issuer(issuer, reach), "an issuer must be an https URL without a query")?;
            let id = ProviderId::of(name)
                .ok_or_else(|| Invalid::new("the name of an identity provider must have a letter or digit"))?;
            let is_other = all.iter().all(|other| other.id != id && other.issuer != issuer);
            Invalid::unless(is_other, "identity providers must differ in issuer and name")?;
            let (name, issuer, client_id) = (name.to_owned(), issuer.to_owned(), client_id.to_owned());
            all.push(Self { name, id, issuer, client_id, scope: scope.join(" "), groups_claim: None });
        }
        Ok(all)
    }
}

fn items(list: &str) -> Vec<&str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
}

fn is_issuer(issuer: &str, reach: Reach) -> bool {
    let url = Url::parse(issuer).ok().filter(|url| url.query().is_none() && url.fragment().is_none());
    url.is_some_and(|url| is_safe(&url, reach))
}

/// Whether a URL may be that of a provider, to which secrets are sent.
fn is_safe(url: &Url, reach: Reach) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    match url.scheme() {
        "https" => url.has_host() && url.username().is_empty() && url.password().is_none(),
        "http" => is_loopback && reach == Reach::PublicAndLoopback,
        _ => false,
    }
}

/// The URL of something that a provider has.
pub(crate) fn endpoint(url: &str, reach: Reach) -> Option<TargetUrl> {
    Url::parse(url).ok().filter(|url| is_safe(url, reach))?;
    TargetUrl::parse(url).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(issuers: &str, client_ids: &str, names: &str) -> Result<Vec<Settings>, Invalid> {
        Settings::parse_all(issuers, client_ids, names, "openid email", Reach::Public)
    }

    #[test]
    fn lists_belong_together_by_their_order() {
        let all = parse("https://a.example/, https://b.example/t/v2.0", "one,two", "Entra ID, Okta").unwrap();

        let ids: Vec<_> =
            all.iter().map(|one| (one.id.as_str(), one.issuer.as_str(), one.client_id.as_str())).collect();
        assert_eq!(ids, [("entra-id", "https://a.example/", "one"), ("okta", "https://b.example/t/v2.0", "two")]);
        assert_eq!((all[0].name.as_str(), all[0].scope.as_str()), ("Entra ID", "openid email"));
        assert_eq!(parse("", "", ""), Ok(Vec::new()));
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        for (issuers, client_ids, names) in [
            ("https://a.example", "one", ""),
            ("https://a.example", "", "A"),
            ("https://a.example,https://b.example", "one,two", "A"),
            ("https://a.example,https://b.example", "one,two", "A,a!"),
            ("https://a.example,https://a.example", "one,two", "A,B"),
            ("https://a.example", "one", "???"),
            ("https://a.example,https://b.example,https://c.example,https://d.example", "1,2,3,4", "A,B,C,D"),
        ] {
            assert!(parse(issuers, client_ids, names).is_err(), "{issuers} {client_ids} {names}");
        }
        for issuer in [
            "http://a.example",
            "http://127.0.0.1:8080",
            "a.example",
            "https://a.example?tenant=1",
            "https://a.example#x",
            "https://ada:secret@a.example",
            "ftp://a.example",
        ] {
            assert!(parse(issuer, "one", "A").is_err(), "{issuer}");
        }
        let without_openid = Settings::parse_all("https://a.example", "one", "A", "email", Reach::Public);
        assert!(without_openid.is_err());
        let of_each = |scopes| {
            let (issuers, names) = ("https://a.example,https://b.example", "A,B");
            let all = Settings::parse_all(issuers, "one,two", names, scopes, Reach::Public);
            all.map(|all| all.into_iter().map(|one| one.scope).collect::<Vec<_>>())
        };
        assert_eq!(of_each("openid email, openid  groups").unwrap(), ["openid email", "openid groups"]);
        assert_eq!(of_each("openid").unwrap(), ["openid", "openid"]);
        assert!(of_each("openid,email").is_err() && of_each("openid,openid,openid").is_err());
    }

    #[test]
    fn only_a_local_system_has_issuers_on_its_own_machine() {
        let local = |issuer: &str| Settings::parse_all(issuer, "one", "A", "openid", Reach::PublicAndLoopback);

        assert!(local("http://127.0.0.1:8080").is_ok() && local("http://localhost:8080/x").is_ok());
        assert!(local("http://a.example").is_err() && local("http://10.0.0.1").is_err());
    }
}
