//! Codes in whichever case they are typed: those that people have chosen never differ by case alone.

use aws_sdk_dynamodb::types::TransactWriteItem;
use linklet_domain::{Link, Record, RedirectTarget, ShortCode, WorkspaceId};

use super::item::{CaseAliasItem, case_alias_key, link_key};
use super::{CODE_IS_FREE, LinksTable, code_is_free_for};
use crate::{Consistency, Result, item::text, write::ACTION};

const LOOK_UP: &str = "look up a code in all cases";

/// Whether a code can be found in any case.
pub(super) enum CaseAlias {
    /// After these actions.
    Free(Vec<TransactWriteItem>),
    /// Not, since another one of its workspace is.
    Own,
    /// Not, since one of another workspace is, or was.
    OfOthers,
}

impl LinksTable {
    /// What stands under a code that isn't there as it was typed, by eventually consistent reads: the link whose custom code is the
    /// same but for the case.
    pub(super) async fn in_another_case(&self, code: &ShortCode) -> Result<Option<Record<RedirectTarget>>> {
        const OPERATION: &str = "look up a code in another case";
        let found = self.0.get_with::<CaseAliasItem>(OPERATION, case_alias_key(code), Consistency::Eventual).await?;
        match found.filter(|fold| fold.short_code != *code) {
            Some(fold) => self.target_by(&fold.short_code, Consistency::Eventual).await,
            None => Ok(None),
        }
    }

    /// Whether another workspace's link is found by this code in some case, or was.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn is_of_others_in_any_case(&self, code: &ShortCode, workspace: &WorkspaceId) -> Result<bool> {
        let found = self.0.get::<CaseAliasItem>(LOOK_UP, case_alias_key(code)).await?;
        match found.filter(|found| found.workspace_id != *workspace) {
            Some(found) => Ok(self.find(&found.short_code).await?.is_some()),
            None => Ok(false),
        }
    }

    /// The actions that reserve a custom code in all cases, unless it is taken in one. The code of a purged link can be taken again by
    /// its workspace, and by anybody when its tombstone is gone, in whichever case; then nothing remains of the one before.
    pub(super) async fn claim_case_alias(&self, link: &Link) -> Result<CaseAlias> {
        let (code, workspace) = (link.code(), link.identity.workspace);
        let fold = CaseAliasItem { key: case_alias_key(code), short_code: code.clone(), workspace_id: workspace };
        let Some(found) = self.0.get::<CaseAliasItem>(LOOK_UP, case_alias_key(code)).await? else {
            return Ok(CaseAlias::Free(vec![self.0.put_new(&fold)?]));
        };
        let is_own = found.workspace_id == workspace;
        match self.find(&found.short_code).await? {
            Some(record) if record.is_purged() && is_own => {}
            Some(_) => return Ok(if is_own { CaseAlias::Own } else { CaseAlias::OfOthers }),
            // The tombstone's time is over, so anybody may have the code.
            None => {}
        }
        let known = [(":known", text(&found.short_code))];
        let mut actions = vec![self.0.put_if(&fold, "short_code = :known", known)?];
        if found.short_code != *code {
            // The code that the purged link had would otherwise be found first, and say that it is gone.
            let delete = self.0.delete(ACTION, link_key(&found.short_code));
            let delete = delete.only_if(CODE_IS_FREE);
            actions.push(delete.values(code_is_free_for(&workspace)).action()?);
        }
        Ok(CaseAlias::Free(actions))
    }
}
