//! `GET /api/export/workspace`: a workspace with its settings, members and tags, and the URLs that it monitors.

use linklet_domain::{Overview, OverviewPart, OverviewQuestion, PageToken};
use linklet_lambda::http::{Problem, Request, Response, Result, exported};
use linklet_lambda::identity::Caller;
use linklet_lambda::watching::TargetView;
use linklet_lambda::workspace_view::{MemberView, WorkspaceView};
use serde::Serialize;

use crate::Overviews;
use crate::view::{TagView, lacking_of_tags};

/// How many monitored URLs a page has at most.
const MOST_TARGETS: usize = 500;

/// A page: what there is once, and monitored URLs. Further pages have more of these only.
#[derive(Serialize)]
struct WorkspaceExport<'a> {
    workspace: Option<WorkspaceView<'a>>,
    members: Vec<MemberView<'a>>,
    tags: Vec<TagView>,
    targets: Vec<TargetView>,
    /// What of the tags could not be read.
    incomplete: Vec<OverviewPart>,
}

impl Overviews {
    pub(crate) async fn export(&self, request: &Request, caller: &Caller) -> Result<Response> {
        let (limit, after) = (request.number_of_rows(MOST_TARGETS)?, request.after(PageToken::decode)?);
        let page = self.targets.list(&caller.workspace, None, limit, after.as_ref()).await?;
        let next = request.next_page(page.next.as_ref().map(PageToken::encode));
        let targets = page.items.into_iter().map(TargetView::from).collect();
        if after.is_some() {
            let (members, tags, incomplete) = Default::default();
            return exported(request, &next, &WorkspaceExport { workspace: None, members, tags, targets, incomplete });
        }
        let overview: Overview = self.current(request, caller, &OverviewQuestion::default()).await?;
        let (workspaces, id) = (&self.workspaces, &caller.workspace);
        let (workspace, members) = tokio::try_join!(workspaces.workspace(id), workspaces.members(id))?;
        let workspace = workspace.ok_or(Problem::WorkspaceNotFound)?;
        let incomplete = lacking_of_tags(&overview);
        let export = WorkspaceExport {
            workspace: Some(self.views.of(request, &workspace)),
            members: members.iter().map(MemberView::from).collect(),
            tags: overview.tags.into_iter().map(TagView::from).collect(),
            targets,
            incomplete,
        };
        exported(request, &next, &export)
    }
}
