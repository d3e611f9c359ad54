//! Deletes links, with or without their statistics.

use linklet_domain::{Changer, Invalid, Link, LinkEdit, Precondition, Record, Scope, ShortCode};
use linklet_dynamodb::{EditContext, EditOutcome, LinksTable};
use linklet_lambda::{
    bulk::{self, Bulk, require_some},
    http::{ApiError, Handler, Method, Problem, Request, Response, no_content},
    identity::{Authenticator, Caller},
};

/// `DELETE /api/urls/{code}` deletes, `DELETE /api/links/{code}` purges, `DELETE /api/links/bulk` does either to many.
pub struct Delete {
    /// Verifies tokens and API keys.
    pub authenticator: Authenticator,
    /// The repository of links.
    pub links: LinksTable,
    /// Counts the links of requests about many.
    pub bulk: Bulk,
}

impl Handler for Delete {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::DELETE, ["api", "urls", code]) => {
                let caller = self.authenticator.require(request, Scope::LinksWrite).await?;
                self.delete(request, &caller, code, Circumstances::Alone).await
            }
            (&Method::DELETE, ["api", "links", "bulk"]) => {
                let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
                // Boxed, so that requests about one link carry no state of those about many.
                Box::pin(self.remove_many(request, &caller)).await
            }
            (&Method::DELETE, ["api", "links", code]) => {
                // A purge can't be undone.
                let caller = self.authenticator.require_now(request, Scope::LinksWrite).await?;
                self.purge(request, &caller, code, Circumstances::Alone).await
            }
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl Delete {
    async fn delete(
        &self,
        request: &Request,
        caller: &Caller,
        code: &str,
        circumstances: Circumstances,
    ) -> Result<Response, ApiError> {
        let record = self.changeable(caller, code).await?.ok_or(ApiError::Problem(Problem::NotFound))?;
        self.authenticator.confirm(request, caller, &record.identity().owner, Scope::LinksWrite).await?;
        // The response is the same if the link was deleted or has expired before, so that the request is idempotent.
        let is_one_of_many = circumstances == Circumstances::OneOfMany;
        let (at, changer) = (request.received_at(), caller.named_to(&record.identity().owner, is_one_of_many));
        self.remove(request, caller, record, (changer.as_ref(), circumstances), |record| match record {
            Record::Link(link) => LinkEdit::delete(link, at),
            Record::Tombstone(_) => LinkEdit::Keep,
        })
        .await
    }

    /// Replaces the link with a tombstone. That publishes `url.purged`, on which analytics deletes clicks and statistics.
    async fn purge(
        &self,
        request: &Request,
        caller: &Caller,
        code: &str,
        circumstances: Circumstances,
    ) -> Result<Response, ApiError> {
        let Some(record) = self.changeable(caller, code).await? else { return Ok(no_content()) };
        let at = request.received_at();
        let changer = caller.changer();
        let purge = |record: &Record<Link>| LinkEdit::purge(record, at);
        self.remove(request, caller, record, (Some(&changer), circumstances), purge).await
    }

    async fn remove(
        &self,
        request: &Request,
        caller: &Caller,
        record: Record<Link>,
        (changer, circumstances): (Option<&Changer>, Circumstances),
        decide: impl Fn(&Record<Link>) -> LinkEdit,
    ) -> Result<Response, ApiError> {
        let precondition = match circumstances {
            Circumstances::Alone => request.precondition(&record.identity().id.generation),
            Circumstances::OneOfMany => Precondition::None,
        };
        let context = EditContext {
            precondition: &precondition,
            changer,
            ..EditContext::unconditional(caller.user(), request.correlation_id())
        };
        match self.links.edit(record, &context, |record| Ok(decide(record))).await? {
            EditOutcome::Stale => Err(Problem::PreconditionFailed.into()),
            EditOutcome::Refused(refusal) => Err(refusal),
            EditOutcome::Contended => Err(Problem::TryAgain.into()),
            EditOutcome::Kept(_) | EditOutcome::Written(_) | EditOutcome::Gone | EditOutcome::ExternalIdTaken => {
                Ok(no_content())
            }
        }
    }

    async fn remove_many(&self, request: &Request, caller: &Caller) -> Result<Response, ApiError> {
        let wanted = WantedRemovals::read(request)?;
        let codes = &wanted.codes;
        let repeated = bulk::repeated(codes.iter().copied());
        let until = self.bulk.admit(request, caller, codes.len()).await?;
        let removed = bulk::each(codes.len(), bulk::apart(codes.len()), until, |index| {
            let (is_named_before, code) = (repeated[index], codes[index]);
            async move {
                match wanted.is_purge {
                    _ if is_named_before => Err(bulk::named_twice()),
                    true => self.purge(request, caller, code, Circumstances::OneOfMany).await,
                    false => self.delete(request, caller, code, Circumstances::OneOfMany).await,
                }
            }
        });
        Ok(bulk::results(request, removed.await))
    }

    /// Reads the link or tombstone of a code; an error if the caller may not delete it.
    async fn changeable(&self, caller: &Caller, code: &str) -> Result<Option<Record<Link>>, ApiError> {
        let Ok(code) = ShortCode::parse(code) else { return Ok(None) };
        let record = self.links.find(&code).await?;
        if record.as_ref().is_some_and(|record| !caller.may_change(record)) {
            return Err(ApiError::Problem(Problem::Forbidden));
        }
        Ok(record)
    }
}

/// Whether a request is about one link, or about many. `If-Match` counts for a request about one link only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Circumstances {
    Alone,
    OneOfMany,
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
        if request.raw_query().len() > Self::LONGEST_QUERY {
            return Err(Invalid::new("the parameters must have at most 8 KB; name fewer codes").in_field("codes"));
        }
        let codes: Vec<_> = request.query("codes").unwrap_or_default().split(',').map(str::trim).collect();
        let codes: Vec<_> = codes.into_iter().filter(|code| !code.is_empty()).collect();
        require_some("codes", codes.len())?;
        let is_purge = request.parsed("purge", |text| match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Invalid::new("purge must be true or false")),
        })?;
        Ok(Self { codes, is_purge: is_purge.unwrap_or_default() })
    }
}
