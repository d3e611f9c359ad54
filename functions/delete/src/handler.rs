//! Deletes links, with or without their statistics.

use linklet_domain::{Invalid, Link, LinkEdit, LinkName, Precondition, Record, Scope, ShortCode, Timestamp};
use linklet_dynamodb::{EditContext, EditOutcome, LinksTable, StatsTable};
use linklet_lambda::bulk::{self, Bulk, require_some};
use linklet_lambda::http::{Handler, Method, Problem, Request, Response, Result, StatusCode, json, no_content};
use linklet_lambda::identity::{Authenticator, Caller};
use linklet_lambda::link_view::click_counts_of;
use serde::Serialize;

/// `DELETE /api/urls/{code}` deletes, `DELETE /api/links/{code}` purges, `DELETE /api/links/bulk` does either to many.
pub struct Delete {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// The repository of statistics, for what a purge would lose.
    pub stats: StatsTable,
    /// Counts the links of requests about many.
    pub bulk: Bulk,
}

impl Handler for Delete {
    async fn handle(&self, request: &Request) -> Result<Response> {
        let writer = async || self.authenticator.require(request, Scope::LinksWrite).await;
        // A purge can't be undone, and many links are others' as well.
        let writer_now = async || self.authenticator.require_now(request, Scope::LinksWrite).await;
        let alone = |is_purge| Removal { is_purge, is_one_of_many: false };
        match (request.method(), request.segments().as_slice()) {
            (&Method::DELETE, ["api", "urls", code]) => {
                self.remove(request, &writer().await?, code, alone(false)).await
            }
            // Boxed, so that requests about one link carry no state of those about many.
            (&Method::DELETE, ["api", "links", "bulk"]) => {
                Box::pin(self.remove_many(request, &writer_now().await?)).await
            }
            (&Method::DELETE, ["api", "links", code]) => {
                let caller = writer_now().await?;
                match request.flag("dry_run")? {
                    Some(true) => self.loss(&caller, code).await,
                    Some(false) | None => self.remove(request, &caller, code, alone(true)).await,
                }
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Delete {
    /// Deletes a link, or replaces it with a tombstone. The latter publishes `url.purged`, on which analytics deletes clicks and
    /// statistics.
    async fn remove(
        &self,
        request: &Request,
        caller: &Caller,
        code: &str,
        Removal { is_purge, is_one_of_many }: Removal,
    ) -> Result<Response> {
        let record = match self.changeable(caller, code).await? {
            Some(record) => record,
            None if is_purge => return Ok(no_content()),
            None => return Err(Problem::NotFound.into()),
        };
        let (owner, at) = (record.identity().owner, request.received_at);
        let changer = if is_purge {
            Some(caller.changer())
        } else {
            self.authenticator.confirm(request, caller, &owner, Scope::LinksWrite).await?;
            caller.named_to(&owner, is_one_of_many)
        };
        let precondition = match is_one_of_many {
            true => Precondition::None,
            false => request.precondition(&record.identity().id.generation),
        };
        let context = EditContext {
            precondition: &precondition,
            changer: changer.as_ref(),
            ..EditContext::unconditional(&caller.user, &request.correlation_id)
        };
        let decide = |record: &Record<Link>| match record {
            record if is_purge => Ok(LinkEdit::purge(record, at)),
            Record::Link(link) => Ok(LinkEdit::delete(link, at)),
            Record::Tombstone(_) => Ok(LinkEdit::Keep),
        };
        // The response is the same if the link was deleted or has expired before, so that the request is idempotent.
        match self.links.edit(record, &context, decide).await? {
            EditOutcome::Stale => Err(Problem::PreconditionFailed.into()),
            EditOutcome::Refused(refusal) => Err(refusal),
            EditOutcome::Contended => Err(Problem::TryAgain.into()),
            EditOutcome::Kept(_) | EditOutcome::Written(_) | EditOutcome::Gone | EditOutcome::ExternalIdTaken(_) => {
                Ok(no_content())
            }
        }
    }

    async fn remove_many(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let wanted = WantedRemovals::read(request)?;
        let codes = &wanted.codes;
        let repeated = bulk::repeated(codes.iter().copied());
        let until = self.bulk.admit(request, caller, codes.len()).await?;
        let removed = bulk::each(codes.len(), bulk::apart(codes.len()), until, |index| {
            let (is_named_before, code) = (repeated[index], codes[index]);
            let removal = Removal { is_purge: wanted.is_purge, is_one_of_many: true };
            async move {
                if is_named_before {
                    return Err(bulk::named_twice());
                }
                self.remove(request, caller, code, removal).await
            }
        });
        Ok(bulk::results(request, removed.await))
    }

    /// What a purge would lose.
    async fn loss(&self, caller: &Caller, code: &str) -> Result<Response> {
        let Some(record) = self.changeable(caller, code).await?.filter(|record| !record.is_purged()) else {
            return Ok(no_content());
        };
        let id = &record.identity().id;
        let clicks = click_counts_of(&self.stats, &caller.workspace, std::slice::from_ref(id)).await;
        let clicks = clicks.map(|clicks| clicks.get(id).copied().unwrap_or_default());
        let loss = Loss {
            short_code: &id.code,
            total_clicks: clicks.map(|clicks| clicks.total),
            last_click_at: clicks.and_then(|clicks| clicks.last),
        };
        Ok(json(StatusCode::OK, &loss))
    }

    /// Reads the link or tombstone of a code; an error if the caller may not delete it.
    async fn changeable(&self, caller: &Caller, code: &str) -> Result<Option<Record<Link>>> {
        let Ok(name) = LinkName::parse(code) else { return Ok(None) };
        let record = self.links.find_named(&caller.workspace, &name).await?;
        record.as_ref().map_or(Ok(()), |record| caller.require_link(record))?;
        Ok(record)
    }
}

/// What a purge loses besides the link: its clicks. `total_clicks` is `None` if they can't be read.
#[derive(Serialize)]
struct Loss<'a> {
    short_code: &'a ShortCode,
    total_clicks: Option<u64>,
    last_click_at: Option<Timestamp>,
}

/// How a link is removed.
#[derive(Clone, Copy)]
struct Removal {
    /// Whether its statistics go with it.
    is_purge: bool,
    /// Whether the request is about many links. `If-Match` counts for a request about one link only.
    is_one_of_many: bool,
}

/// Which links a request removes.
struct WantedRemovals<'r> {
    codes: Vec<&'r str>,
    /// Whether their statistics go with them.
    is_purge: bool,
}

impl<'r> WantedRemovals<'r> {
    /// How long the parameters may be together. API Gateway takes a little more, with the headers.
    const LONGEST_QUERY: usize = 8 << 10;

    fn read(request: &'r Request) -> Result<Self, Invalid> {
        let is_too_long = request.raw_query().len() > Self::LONGEST_QUERY;
        Invalid::field_when("codes", is_too_long, "the parameters must have at most 8 KB; name fewer codes")?;
        let codes: Vec<_> = request.query("codes").unwrap_or_default().split(',').map(str::trim).collect();
        let codes: Vec<_> = codes.into_iter().filter(|code| !code.is_empty()).collect();
        require_some("codes", codes.len())?;
        Ok(Self { codes, is_purge: request.flag("purge")?.unwrap_or_default() })
    }
}
