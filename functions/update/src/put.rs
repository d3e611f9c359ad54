//! `PUT /api/links/ext:{external_id}`: creates the link that an external id names, or changes it.

use linklet_domain::{ExternalId, Invalid, Link, LinkName, LinkPatch, optional};
use linklet_lambda::http::{
    ApiError, JsonObject, Problem, Request, Response, Result, ShortUrls, StatusCode, header, located,
};
use linklet_lambda::identity::Caller;
use linklet_lambda::link_writer::Named;
use linklet_lambda::rules::{GivenRules, refuse_own};
use serde::Deserialize;

use crate::{Change, Update};

impl Update {
    pub(crate) async fn put(&self, request: &Request, caller: &Caller, name: &str) -> Result<Response> {
        const LOOKS: u32 = 3;
        let id = external_id(name)?;
        let body = request.large_json_object()?;
        let mut change = Change::read_put(request, &self.writer.short_urls, &body, &id)?;
        let LinkPatch { is_active, archived, .. } = change.patch;
        let (mut status, mut refused) = (StatusCode::OK, None);
        for looks_left in (0..LOOKS).rev() {
            match self.change(request, caller, name, change.clone(), None).await {
                Err(ApiError::Problem(Problem::NotFound | Problem::LinkPurged)) => {}
                changed => return Ok(self.answer(request, status, changed?).await),
            }
            if refused.is_some() || looks_left == 0 {
                break;
            }
            Problem::PreconditionFailed.when(request.has_header(header::IF_MATCH))?;
            self.throttle.admit(request, &caller.user).await?;
            match self.writer.create_named(request, &body, caller, Named { id: &id, is_active, archived }).await {
                Ok(()) => (status, change) = (StatusCode::CREATED, Change::default()),
                // The same request may have created the link at the same time.
                Err(taken @ (ApiError::ExternalIdTaken(_) | ApiError::Problem(Problem::ShortCodeTaken))) => {
                    refused = Some(taken);
                }
                Err(error) => return Err(error),
            }
        }
        Err(refused.unwrap_or(Problem::TryAgain.into()))
    }

    async fn answer(&self, request: &Request, status: StatusCode, link: Link) -> Response {
        let code = link.id().code.clone();
        let shown = self.shown_alone(request, status, link).await;
        if status == StatusCode::CREATED { located(shown, code.as_str()) } else { shown }
    }
}

/// The external id in a path.
fn external_id(name: &str) -> Result<ExternalId, Invalid> {
    match LinkName::parse(name)? {
        LinkName::External(id) => Ok(id),
        LinkName::Code(_) => Err(Invalid::new(
            "PUT needs ext: and an external id in the path, such as ext:order-17; PATCH changes a link by its code",
        )),
    }
}

/// The member that PUT has and PATCH doesn't.
#[derive(Deserialize)]
struct OfCreation {
    #[serde(default, deserialize_with = "optional")]
    custom_code: Option<String>,
}

impl Change {
    fn read_put(request: &Request, short_urls: &ShortUrls, body: &JsonObject, id: &ExternalId) -> Result<Self> {
        let (patch, OfCreation { custom_code }) = (body.read::<LinkPatch>()?, body.read()?);
        if patch.external_id.iter().flatten().any(|other| other != id) {
            return Err(Invalid::new("external_id must be the one in the path").in_field("external_id").into());
        }
        let rules = body.read::<GivenRules>()?;
        let routing = if rules.is_given() { Some(rules.into_routing()?) } else { None };
        if let Some(Some(routing)) = &routing {
            refuse_own(short_urls, request, routing)?;
        }
        let patch = LinkPatch { external_id: None, routing, ..patch };
        Ok(Self { custom_code, ..Self::of(request, body, patch)? })
    }
}
