//! Whose a page is: what a workspace shows of itself on the pages that its visitors see.

use std::{borrow::Cow, sync::Arc};

use linklet_domain::{Color, PublicWorkspace, Timestamp, WorkspaceId};
use linklet_dynamodb::PublicWorkspaces;

use crate::aws::Tables;
use crate::config::{self, ConfigError};
use crate::http::{Problem, Request, escaped};
use crate::public_workspaces::KnownWorkspaces;
use crate::telemetry::warn_of;

/// Finds what workspaces show of themselves.
pub struct Brands {
    /// What is public of workspaces.
    pub workspaces: KnownWorkspaces,
    /// Whether pages show logos. A page that asks for a password must not look like anybody's whom nobody knows.
    pub shows_logos: bool,
}

impl Brands {
    /// Those of `USERS_TABLE`, with logos unless `REGISTRATION` is `open`.
    ///
    /// # Errors
    /// When a variable is missing.
    pub fn from_env(tables: &Tables) -> Result<Self, ConfigError> {
        let workspaces = KnownWorkspaces::new(tables.at("USERS_TABLE", PublicWorkspaces)?);
        Ok(Self { workspaces, shows_logos: config::required("REGISTRATION")? != "open" })
    }

    /// What a workspace shows of itself. If that can't be read, a page does without.
    pub async fn find(&self, id: &WorkspaceId, now: Timestamp) -> Option<Brand> {
        let workspace =
            warn_of(self.workspaces.find(id, now).await, "a page goes out without its workspace").flatten()?;
        Some(Brand { workspace, shows_logo: self.shows_logos })
    }
}

/// What a workspace shows of itself.
#[derive(Debug, Clone)]
pub struct Brand {
    workspace: Arc<PublicWorkspace>,
    shows_logo: bool,
}

impl Brand {
    /// What a page adds to its style.
    pub(super) fn style(&self) -> String {
        let color = self.workspace.color.map_or_else(String::new, |color| {
            let ink = Color::ink(color);
            format!(
                "main{{border-top:4px solid {color}}}button{{border-color:var(--drawing);background:{color};color:{ink}}}"
            )
        });
        format!(
            ".owner{{margin-top:24px;padding-top:16px;border-top:1px solid var(--line);font-size:14px;line-height:20px;\
             overflow-wrap:anywhere}}.owner b{{color:var(--text)}}.logo{{display:block;max-width:160px;max-height:64px;\
             margin:0 auto 24px}}{color}"
        )
    }

    /// The logo as an element, if the page shows one. Its address is relative, so that it is right whatever comes before the path.
    pub(super) fn logo(&self, request: &Request) -> Option<String> {
        let id = self.workspace.logo.as_ref().filter(|_| self.shows_logo)?;
        let up = "../".repeat(request.path().matches('/').count().saturating_sub(1));
        Some(format!(r#"<img class="logo" src="{up}api/logos/{id}" alt="">"#))
    }

    /// The sentence that says whose the link is, and whom to ask.
    pub(super) fn sentence(&self, problem: Option<Problem>) -> String {
        let PublicWorkspace { contact, .. } = &*self.workspace;
        let Some(name) = self.workspace.chosen_name() else { return String::new() };
        let ask = contact.as_ref().map_or(Cow::Borrowed("."), |contact| {
            let (what, href, shown) = (wish(problem), contact.href(), contact.shown());
            let (href, shown) = (escaped(&href), escaped(shown));
            Cow::Owned(format!(r#". {what}: <a href="{href}" rel="noopener noreferrer">{shown}</a>"#))
        });
        format!(r#"<p class="owner">Shared by <b><bdi>{}</bdi></b>{ask}</p>"#, escaped(name.as_str()))
    }
}

/// What visitors may ask the workspace for.
fn wish(problem: Option<Problem>) -> &'static str {
    match problem {
        Some(Problem::LinkPasswordRequired | Problem::LinkPasswordWrong | Problem::TooManyAttempts) => {
            "Ask for the password"
        }
        Some(Problem::LinkScheduled) => "Ask when it starts",
        Some(_) => "Ask for a new link",
        None => "Contact",
    }
}
