//! Importing a link, which keeps its code and its dates. Repeating that changes nothing: the link is found by its code, by the short URL
//! that it had, or by its URL.

use linklet_domain::{ExternalId, Link, Record, ShortCode, Unavailable};
use linklet_dynamodb::{AnyCase, Consistency, CreateOutcome, Creation, Reusable, back_off};

use super::LinkWriter;
use super::new_link::{NewLink, Past};
use crate::http::{ApiError, JsonObject, Problem, Request, Result};
use crate::identity::Caller;

/// A link that comes from another system.
pub struct Arrival<'a> {
    /// What it is, with the members of a request for a new link.
    pub body: &'a JsonObject,
    /// The code that it had, if that is known.
    pub code: Option<&'a str>,
    /// The short URL that it had, which becomes the external id of a link that gets a new code.
    pub former: Option<ExternalId>,
    /// What it has behind it.
    pub past: Past,
}

/// How links are imported.
#[derive(Debug, Clone, Copy)]
pub struct ImportMode {
    /// Whether nothing is written.
    pub is_dry_run: bool,
    /// Whether a link gets a new code that can't keep its own.
    pub gives_new_codes: bool,
    /// Whether a code may have the form of generated ones.
    pub may_look_generated: bool,
}

/// What has become of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It is created with this code; in a dry run, a code that is to be generated isn't known.
    Created(Option<ShortCode>),
    /// The workspace has it already, with this code.
    Same(ShortCode),
    /// Another link has its code, or had.
    Taken,
    /// No link can have its code.
    Unsupported(Unavailable),
}

const TRIES: u32 = 10;

impl LinkWriter {
    /// Creates a link that comes from another system, unless the workspace has it. Nobody is notified.
    ///
    /// # Errors
    /// When the link breaks a rule, its destination is blocked, or a table can't be reached.
    pub async fn import(
        &self,
        request: &Request,
        caller: &Caller,
        arrival: Arrival<'_>,
        mode: ImportMode,
    ) -> Result<ImportOutcome> {
        let Arrival { body, code, former, past } = arrival;
        let wanted =
            NewLink::read_of_any_time(body, request, &self.reserved, &self.short_urls, self.room.reach)?.with(past);
        let outcome = match code.map(|code| ShortCode::imported(code, &self.reserved, mode.may_look_generated)) {
            None => return self.import_anew(request, caller, wanted, former, mode).await,
            Some(Err(why)) => ImportOutcome::Unsupported(why),
            Some(Ok(code)) => self.import_as(request, caller, &wanted.clone().coded(code), mode).await?,
        };
        match outcome {
            ImportOutcome::Taken | ImportOutcome::Unsupported(_) if mode.gives_new_codes => {
                self.import_anew(request, caller, wanted, former, mode).await
            }
            outcome => Ok(outcome),
        }
    }

    /// With the code that it had.
    async fn import_as(
        &self,
        request: &Request,
        caller: &Caller,
        wanted: &NewLink,
        mode: ImportMode,
    ) -> Result<ImportOutcome> {
        let code = wanted.code().ok_or(Problem::TryAgain)?;
        for tries in 0..TRIES {
            match self.links.find(code).await? {
                Some(Record::Link(link))
                    if link.identity.workspace == caller.workspace && link.target == wanted.target =>
                {
                    return Ok(ImportOutcome::Same(code.clone()));
                }
                Some(record) if !record.leaves_its_code_to(&caller.workspace) => return Ok(ImportOutcome::Taken),
                _ => {}
            }
            let may_differ_by_case = wanted.any_case() == AnyCase::Never;
            if !may_differ_by_case && self.links.is_of_others_in_any_case(code, &caller.workspace).await? {
                return Ok(ImportOutcome::Taken);
            }
            if mode.is_dry_run {
                self.checked(request, caller, wanted, code.clone()).await?;
                return Ok(ImportOutcome::Created(Some(code.clone())));
            }
            match self.put_import(request, caller, wanted, code.clone()).await? {
                CreateOutcome::Created => return Ok(ImportOutcome::Created(Some(code.clone()))),
                CreateOutcome::ExternalIdTaken(by) => return Err(ApiError::ExternalIdTaken(by)),
                CreateOutcome::CodeTaken | CreateOutcome::Conflict => back_off(tries).await,
            }
        }
        Err(Problem::TryAgain.into())
    }

    /// With a new code.
    async fn import_anew(
        &self,
        request: &Request,
        caller: &Caller,
        mut wanted: NewLink,
        former: Option<ExternalId>,
        mode: ImportMode,
    ) -> Result<ImportOutcome> {
        if let Some(former) = former {
            wanted.metadata.external_id.get_or_insert(former);
        }
        for tries in 0..TRIES {
            if let Some(outcome) = self.imported_before(caller, &wanted).await? {
                return Ok(outcome);
            }
            let code = (self.generate_code)().map_err(ApiError::internal)?;
            if mode.is_dry_run {
                self.checked(request, caller, &wanted, code).await?;
                return Ok(ImportOutcome::Created(None));
            }
            if !self.reserved.contains(&code)
                && self.put_import(request, caller, &wanted, code.clone()).await? == CreateOutcome::Created
            {
                return Ok(ImportOutcome::Created(Some(code)));
            }
            back_off(tries).await;
        }
        Err(Problem::TryAgain.into())
    }

    /// What a link is that the workspace has already: by its former short URL, or else by its URL.
    async fn imported_before(&self, caller: &Caller, wanted: &NewLink) -> Result<Option<ImportOutcome>> {
        let same = |link: Link| ImportOutcome::Same(link.identity.id.code);
        Ok(match &wanted.metadata.external_id {
            Some(id) => {
                let link = self.links.with_external_id(&caller.workspace, id).await?;
                link.map(|link| if link.target == wanted.target { same(link) } else { ImportOutcome::Taken })
            }
            None if !wanted.may_reuse => None,
            None => match self.reusable(caller, wanted).await? {
                Reusable::Link(link) => Some(same(*link)),
                Reusable::Stale(_) | Reusable::None => None,
            },
        })
    }

    async fn reusable(&self, caller: &Caller, wanted: &NewLink) -> Result<Reusable> {
        Ok(self.links.reusable(&caller.workspace, &wanted.target, false, Consistency::Strong).await?)
    }

    async fn put_import(
        &self,
        request: &Request,
        caller: &Caller,
        wanted: &NewLink,
        code: ShortCode,
    ) -> Result<CreateOutcome> {
        let link = self.checked(request, caller, wanted, code).await?;
        // The URL keeps the link that it has.
        let reusable = match wanted.is_reusable {
            true => Some(self.reusable(caller, wanted).await?).filter(|found| !matches!(found, Reusable::Link(_))),
            false => None,
        };
        let creation = Creation {
            reusable: reusable.as_ref(),
            any_case: wanted.any_case(),
            is_quiet: true,
            ..Creation::of(&link)
        };
        Ok(self.links.create(&creation).await?)
    }
}
