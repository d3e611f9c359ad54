//! `PATCH /api/links/bulk`: changes many links, each as if it were alone.

use std::time::Instant;

use linklet_domain::{Invalid, Link, TagChange, optional};
use linklet_lambda::{
    bulk::{self, BULK_BODY, limit_passwords, require_some},
    http::{ApiError, JsonObject, Request, Response, StatusCode, json},
    identity::Caller,
    link_view::{LinkTables, OneLink},
};
use serde::Deserialize;

use crate::{Change, Update, Waiting};

/// Which links a request changes, and how.
struct Wanted {
    /// The codes, with the part of the request about each.
    links: Vec<(String, Request)>,
    /// What becomes of the tags of each.
    tags: TagChange,
}

impl Update {
    pub(crate) async fn update_many(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let wanted = Wanted::read(request)?;
        let links = &wanted.links;
        let repeated = bulk::repeated(links.iter().map(|(code, _)| code.as_str()));
        let until = self.bulk.admit(request, caller, links.len()).await?;
        let changed = bulk::each(links.len(), bulk::apart(links.len()), until, |index| {
            let is_named_before = repeated[index];
            let change = self.update_one(&wanted, index, caller, until);
            async move { if is_named_before { Err(bulk::named_twice()) } else { change.await } }
        });
        let answers = self.shown(changed.await, links).await;
        Ok(bulk::results(request, answers))
    }

    async fn update_one(
        &self,
        Wanted { links, tags }: &Wanted,
        index: usize,
        caller: &Caller,
        until: Instant,
    ) -> Result<Link, ApiError> {
        let (code, part) = &links[index];
        let change = Change { tags: tags.clone(), ..Change::read(part)? };
        self.change(part, caller, code, change, Waiting::Until(until)).await
    }

    /// The links that were changed as answers show them, with what is shown with them read for all at once.
    async fn shown(
        &self,
        changed: Vec<Result<Link, ApiError>>,
        parts: &[(String, Request)],
    ) -> Vec<Result<Response, ApiError>> {
        let links: Vec<_> = changed.iter().flatten().cloned().collect();
        let around =
            LinkTables { links: &self.links, stats: &self.stats, people: &self.people }.surroundings(&links).await;
        let shown = |link, part: &Request| {
            let view = OneLink::among(part, &self.short_urls, &around, link);
            part.name_ignored(json(StatusCode::OK, &view))
        };
        changed.into_iter().zip(parts).map(|(link, (_, part))| link.map(|link| shown(link, part))).collect()
    }
}

/// Changes of links that are alike.
#[derive(Deserialize)]
struct Alike {
    #[serde(default, deserialize_with = "optional")]
    codes: Option<Vec<String>>,
}

/// A change of one link, of which the rest is read with the link.
#[derive(Deserialize)]
struct Named {
    code: String,
}

impl Wanted {
    fn read(request: &Request) -> Result<Self, ApiError> {
        let body = request.json_object(BULK_BODY)?;
        body.has_only(&["links", "codes", "set", "add_tags", "remove_tags"]);
        let (Alike { codes }, tags) = (body.read()?, body.read::<TagChange>()?);
        let wanted = match (body.objects("links")?, codes) {
            (Some(_), None) if body.value("set").is_some() || !tags.is_none() => {
                return Err(refused(
                    "links",
                    "what is set and tagged alike is for codes; each of the links has its own",
                )
                .into());
            }
            (Some(links), None) => Self { links: each_its_own(request, &links)?, tags },
            (None, Some(codes)) => Self { links: all_alike(request, &body, codes, &tags)?, tags },
            (Some(_), Some(_)) => return Err(refused("codes", "codes can't be given beside links").into()),
            (None, None) => return Err(refused("links", "links or codes is required").into()),
        };
        let parts = wanted.links.iter().map(|(_, part)| part.json_object(BULK_BODY));
        limit_passwords(&parts.collect::<Result<Vec<_>, _>>()?)?;
        Ok(wanted)
    }
}

/// The changes that a list has, each with the code of its link.
fn each_its_own(request: &Request, links: &[&str]) -> Result<Vec<(String, Request)>, ApiError> {
    require_some("links", links.len())?;
    let part_of = |link: &&str| {
        let whole = request.part((*link).to_owned());
        let link = whole.json_object(BULK_BODY)?;
        let Named { code } = link.read().map_err(|_| refused("links", "each of the links must have its code"))?;
        Ok((code, request.part(link.without("code"))))
    };
    links.iter().map(part_of).collect()
}

/// The same change for each of these codes.
fn all_alike(
    request: &Request,
    body: &JsonObject<'_>,
    codes: Vec<String>,
    tags: &TagChange,
) -> Result<Vec<(String, Request)>, Invalid> {
    require_some("codes", codes.len())?;
    let set = body.value("set");
    if set.is_none() && tags.is_none() {
        return Err(refused("set", "set, add_tags or remove_tags is required"));
    }
    let set = set.unwrap_or("{}");
    if !set.starts_with('{') {
        return Err(refused("set", "set must be an object"));
    }
    let part = request.part(set.to_owned());
    let sets_tags = part.json_object(BULK_BODY).is_ok_and(|set| set.value("tags").is_some());
    if sets_tags && !tags.is_none() {
        return Err(refused("set", "set can't have tags beside add_tags and remove_tags"));
    }
    Ok(codes.into_iter().map(|code| (code, part.part(set.to_owned()))).collect())
}

fn refused(member: &'static str, sentence: &'static str) -> Invalid {
    Invalid::new(sentence).in_field(member)
}
