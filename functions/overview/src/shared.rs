//! The overview and the breakdowns of a tag, for those who have a share of it.

use linklet_domain::{Overview, OverviewBreakdowns, OverviewQuestion, Share, Shared};
use linklet_lambda::gathering::Gathering;
use linklet_lambda::http::{ApiError, Problem, Request, Response, Result};
use linklet_lambda::shares::require_only;
use serde::Serialize;

use crate::gather::Gathered;
use crate::view::{BreakdownsView, OverviewView};
use crate::{Overviews, question};

const PARAMETERS: [&str; 3] = ["tag", "from", "to"];

impl Overviews {
    pub(crate) async fn shared_overview(&self, request: &Request, share: &Share) -> Result<Response> {
        require_only(request, &PARAMETERS)?;
        let question = of_share(question::of_overview(request)?, share)?;
        let compute = async {
            let overview: Overview = self.gathered(request, share, &question).await?;
            let mut top = self.top_links(&overview).await?;
            top.retain(|link| link.availability.suspensions.is_empty());
            text_of(&OverviewView::for_strangers(request, &self.short_urls, &overview, top))
        };
        self.shares.answer(request, share, format!("overview {}", question.key()), compute).await
    }

    pub(crate) async fn shared_breakdowns(&self, request: &Request, share: &Share) -> Result<Response> {
        require_only(request, &PARAMETERS)?;
        let (question, group) = question::of_breakdowns(request)?;
        let question = of_share(question, share)?;
        let compute = async {
            let breakdowns: OverviewBreakdowns = self.gathered(request, share, &question).await?;
            text_of(&BreakdownsView::for_strangers(&breakdowns, group))
        };
        self.shares.answer(request, share, format!("breakdowns {}", question.key()), compute).await
    }

    /// Added up anew: what is kept of the workspace's own questions is for its members, and has few places.
    async fn gathered<T: Gathered>(&self, request: &Request, share: &Share, question: &OverviewQuestion) -> Result<T> {
        let gathering = Gathering::of((&self.links, &self.stats), &share.workspace, question, request.received_at);
        Ok(T::gather(gathering, &self.targets).await?)
    }
}

/// A question about the tag of a share.
fn of_share(question: OverviewQuestion, share: &Share) -> Result<OverviewQuestion> {
    let tag = question.tag.clone().map(Shared::Tag);
    Problem::ShareNotFound.unless(tag.is_some_and(|tag| share.shared.is(&tag)))?;
    Ok(question)
}

fn text_of(view: &impl Serialize) -> Result<String> {
    serde_json::to_string(view).map_err(ApiError::internal)
}
