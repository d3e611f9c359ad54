//! `PATCH /api/links/bulk`: changes many links, each as if it were alone.

use std::{sync::Arc, time::Instant};

use linklet_domain::{Invalid, Link, TagChange, optional};
use linklet_lambda::bulk::{self, limit_passwords, require_some};
use linklet_lambda::http::{JsonObject, Request, Response, Result, StatusCode, json, naming};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_view::{LinkTables, OneLink};
use serde::Deserialize;

use crate::{Change, Update};

/// Which links a request changes, and how.
struct Wanted {
    /// The codes, each with its change.
    links: Vec<(String, Arc<JsonObject>)>,
    /// What becomes of the tags of each.
    tags: TagChange,
}

/// A link that was changed, and the members of its change that did nothing.
struct Changed {
    link: Link,
    ignored: Vec<String>,
}

impl Update {
    pub(crate) async fn update_many(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let wanted = Wanted::read(request)?;
        let links = &wanted.links;
        let repeated = bulk::repeated(links.iter().map(|(code, _)| code.as_str()));
        let until = self.bulk.admit(request, caller, links.len()).await?;
        let changed = bulk::each(links.len(), bulk::apart(links.len()), until, |index| {
            let is_named_before = repeated[index];
            let change = self.update_one(request, caller, &wanted, index, until);
            async move { if is_named_before { Err(bulk::named_twice()) } else { change.await } }
        });
        Ok(bulk::results(request, self.shown(request, changed.await).await))
    }

    async fn update_one(
        &self,
        request: &Request,
        caller: &Caller,
        Wanted { links, tags }: &Wanted,
        index: usize,
        until: Instant,
    ) -> Result<Changed> {
        let (code, body) = &links[index];
        let change = Change { tags: tags.clone(), ..Change::read(request, body)? };
        let ignored = body.ignored();
        let link = self.change(request, caller, code, change, Some(until)).await?;
        Ok(Changed { link, ignored })
    }

    /// The links that were changed as answers show them, with what is shown with them read for all at once.
    async fn shown(&self, request: &Request, changed: Vec<Result<Changed>>) -> Vec<Result<Response>> {
        let links: Vec<_> = changed.iter().flatten().map(|changed| changed.link.clone()).collect();
        let around = LinkTables { links: &self.writer.links, stats: &self.stats, people: &self.people }
            .surroundings(&links)
            .await;
        let shown = |Changed { link, ignored }| {
            let view = OneLink::among(request, &self.writer.short_urls, &around, link);
            naming(&ignored, json(StatusCode::OK, &view))
        };
        changed.into_iter().map(|changed| changed.map(shown)).collect()
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
    #[serde(alias = "short_code")]
    code: String,
}

impl Wanted {
    fn read(request: &Request) -> Result<Self> {
        let body = request.large_json_object()?;
        body.has_only(&["links", "codes", "set", "add_tags", "remove_tags"])?;
        let (Alike { codes }, tags) = (body.read()?, body.read::<TagChange>()?);
        let links = match (body.objects("links")?, codes) {
            (Some(_), None) if body.value("set").is_some() || !tags.is_none() => {
                return Err(refused(
                    "links",
                    "what is set and tagged alike is for codes; each of the links has its own",
                )
                .into());
            }
            (Some(links), None) => each_its_own(links)?,
            (None, Some(codes)) => all_alike(&body, codes, &tags)?,
            (Some(_), Some(_)) => return Err(refused("codes", "codes can't be given beside links").into()),
            (None, None) => return Err(refused("links", "links or codes is required").into()),
        };
        limit_passwords(links.iter().map(|(_, body)| body.as_ref()))?;
        Ok(Self { links, tags })
    }
}

/// The changes that a list has, each with the code of its link.
fn each_its_own(links: Vec<JsonObject>) -> Result<Vec<(String, Arc<JsonObject>)>, Invalid> {
    require_some("links", links.len())?;
    let named = links.into_iter().map(|link| {
        let Named { code } = link.read().map_err(|_| refused("links", "each of the links must have its code"))?;
        Ok((code, Arc::new(link.named_by("short_code"))))
    });
    named.collect()
}

/// The same change for each of these codes.
fn all_alike(
    body: &JsonObject,
    codes: Vec<String>,
    tags: &TagChange,
) -> Result<Vec<(String, Arc<JsonObject>)>, Invalid> {
    require_some("codes", codes.len())?;
    let set = match body.object("set")? {
        Some(set) => set,
        None if tags.is_none() => return Err(refused("set", "set, add_tags or remove_tags is required")),
        None => JsonObject::default(),
    };
    if set.value("tags").is_some() && !tags.is_none() {
        return Err(refused("set", "set can't have tags beside add_tags and remove_tags"));
    }
    let set = Arc::new(set);
    Ok(codes.into_iter().map(|code| (code, Arc::clone(&set))).collect())
}

fn refused(member: &'static str, sentence: &'static str) -> Invalid {
    Invalid::new(sentence).in_field(member)
}
