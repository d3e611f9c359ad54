//! `POST /api/links/bulk`: creates many links, each as if it were alone.

use std::collections::BTreeMap;

use crate::Shorten;
use linklet_domain::{AnswerKey, NormalizedUrl, TargetUrl};
use linklet_lambda::bulk::{self, limit_passwords, require_some};
use linklet_lambda::http::{JsonObject, Request, Response, Result};
use linklet_lambda::identity::Caller;

impl Shorten {
    pub(crate) async fn shorten_many(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let body = request.large_json_object()?;
        body.has_only(&["links"])?;
        let links = body.objects("links")?.unwrap_or_default();
        require_some("links", links.len())?;
        let key = request.idempotency_key()?;
        limit_passwords(&links)?;
        let until = self.bulk.admit(request, caller, links.len()).await?;
        let results = bulk::each(links.len(), by_url(&links), until, |index| {
            let key = key.clone().map(|key| AnswerKey { key, index: Some(index) });
            self.writer.link_for(request, &links[index], caller, key, Some(until))
        });
        Ok(bulk::results(request, results.await))
    }
}

/// The positions of the links, those of one URL together: the first of them makes the link that the others may get.
fn by_url(links: &[JsonObject]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        let url = link.value("url").and_then(|url| serde_json::from_str::<TargetUrl>(url).ok());
        // What is no URL is refused, and has to wait for nobody.
        let group = url.map_or_else(|| index.to_string(), |url| NormalizedUrl::of(&url).digest());
        groups.entry(group).or_default().push(index);
    }
    groups.into_values().collect()
}
