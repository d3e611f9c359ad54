//! The overviews of a workspace, which are kept so that they aren't added up for each who asks.
//!
//! Who finds one too old claims it, adds up a new one and puts it in the place of the old one. A claim holds for as long as a
//! function may run, so that one that dies keeps nobody from trying again.
//!
//! What else was asked about a workspace is kept in the same way, each question in a row of its own. A row with the questions that
//! are kept bounds their number, however many are asked.

use std::{collections::BTreeMap, time::Duration};

use linklet_domain::{Overview, OverviewBreakdowns, OverviewQuestion, Timestamp, WorkspaceId, lifetimes};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::StatsTable;
use crate::item::{Key, number, text};
use crate::{Consistency, Result};

/// Something about a workspace that is kept.
pub trait Kept: Serialize + DeserializeOwned + Clone {
    /// What a question's sort key begins with.
    const NAME: &'static str;

    /// When it was added up.
    fn as_of(&self) -> Timestamp;

    /// Until when nobody makes a new one.
    fn fresh_until(&self) -> Timestamp;
}

impl Kept for Overview {
    const NAME: &'static str = "OVERVIEW";

    fn as_of(&self) -> Timestamp {
        self.as_of
    }

    fn fresh_until(&self) -> Timestamp {
        self.fresh_until
    }
}

impl Kept for OverviewBreakdowns {
    const NAME: &'static str = "BREAKDOWNS";

    fn as_of(&self) -> Timestamp {
        self.as_of
    }

    fn fresh_until(&self) -> Timestamp {
        self.fresh_until
    }
}

/// `OVERVIEW#<workspace>` / `OVERVIEW`, or the name of what it is and [the question](OverviewQuestion::key). A claim is written
/// beside it.
#[derive(Debug, Serialize, Deserialize)]
struct KeptItem<T> {
    #[serde(flatten)]
    key: Key,
    as_of: Timestamp,
    overview: T,
    ttl: i64,
}

/// `OVERVIEW#<workspace>` / `QUESTIONS`: the sort keys of the questions that are kept, and until when they are.
#[derive(Debug, Serialize, Deserialize)]
struct QuestionsItem {
    #[serde(flatten)]
    key: Key,
    questions: BTreeMap<String, i64>,
    /// Grows with each write.
    version: u64,
    ttl: i64,
}

fn partition(workspace: &WorkspaceId) -> String {
    format!("OVERVIEW#{workspace}")
}

fn sort_key<T: Kept>(question: &OverviewQuestion) -> String {
    if question.is_plain() { T::NAME.to_owned() } else { format!("{}#{}", T::NAME, question.key()) }
}

fn kept_key<T: Kept>(workspace: &WorkspaceId, question: &OverviewQuestion) -> Key {
    Key::new(partition(workspace), sort_key::<T>(question))
}

impl StatsTable {
    /// Deletes all that is kept about a workspace.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn forget_overviews(&self, workspace: &WorkspaceId) -> Result<()> {
        self.table.delete_partition("delete a workspace's overviews", &partition(workspace)).await
    }

    /// How long a claim holds: longer than a function may run.
    pub const OVERVIEW_CLAIM: Duration = Duration::from_secs(15);

    /// How many questions of a workspace are kept at a time.
    pub const MOST_QUESTIONS: usize = 20;

    /// What was answered to a question last, if it is kept.
    ///
    /// # Errors
    /// When DynamoDB can't be reached, or the row has a form that this version doesn't write.
    pub async fn overview<T: Kept>(
        &self,
        workspace: &WorkspaceId,
        question: &OverviewQuestion,
        now: Timestamp,
    ) -> Result<Option<T>> {
        let key = kept_key::<T>(workspace, question);
        let found = self.table.get_with::<KeptItem<T>>("read an overview", key, Consistency::Eventual).await?;
        Ok(found.filter(|item| item.ttl > now.unix_seconds()).map(|item| item.overview))
    }

    /// Claims to make what comes after the answer of `known`. Returns whether nobody else has claimed or made it.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn claim_overview<T: Kept>(
        &self,
        workspace: &WorkspaceId,
        question: &OverviewQuestion,
        known: Timestamp,
        now: Timestamp,
    ) -> Result<bool> {
        self.table
            .update("claim an overview", kept_key::<T>(workspace, question), "SET claimed_until = :until")
            .only_if("as_of = :known AND (attribute_not_exists(claimed_until) OR claimed_until <= :now)")
            .value(":until", text(&now.plus(Self::OVERVIEW_CLAIM)))
            .values([(":known", text(&known)), (":now", text(&now))])
            .unless_refused()
            .await
    }

    /// Keeps an answer, and with it ends its claim, unless a later one is kept already, or as many questions are as may be.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn keep_overview<T: Kept>(
        &self,
        workspace: &WorkspaceId,
        question: &OverviewQuestion,
        overview: &T,
    ) -> Result<()> {
        const OPERATION: &str = "keep an overview";
        let (as_of, key) = (overview.as_of(), kept_key::<T>(workspace, question));
        let lifetime = if question.is_plain() { lifetimes::OVERVIEWS } else { lifetimes::QUESTIONS };
        let ttl = as_of.plus(lifetime).unix_seconds();
        if !question.is_plain() && !self.has_place(workspace, &key.sk, ttl, as_of).await? {
            return Ok(());
        }
        let item = KeptItem { key, as_of, overview: overview.clone(), ttl };
        let put = self.table.put_item(OPERATION, &item)?.only_if("attribute_not_exists(as_of) OR as_of < :as_of");
        put.value(":as_of", text(&as_of)).unless_refused().await.map(|_| ())
    }

    /// Gives a question a place among those that are kept, until then. Returns whether there is one: not if there are as many, nor
    /// if others take or leave places at the same time.
    async fn has_place(&self, workspace: &WorkspaceId, question: &str, until: i64, now: Timestamp) -> Result<bool> {
        const OPERATION: &str = "note a question";
        let key = Key::new(partition(workspace), "QUESTIONS");
        let known = self.table.get_with::<QuestionsItem>(OPERATION, key.clone(), Consistency::Strong).await?;
        let (mut questions, version) = known.map(|item| (item.questions, item.version)).unwrap_or_default();
        questions.retain(|_, until| *until > now.unix_seconds());
        if questions.len() >= Self::MOST_QUESTIONS && !questions.contains_key(question) {
            return Ok(false);
        }
        questions.insert(question.to_owned(), until);
        let ttl = questions.values().copied().max().unwrap_or(until);
        let item = QuestionsItem { key, questions, version: version + 1, ttl };
        let put = self.table.put_item(OPERATION, &item)?;
        let put = put.only_if("attribute_not_exists(version) OR version = :version");
        put.value(":version", number(&version)).unless_refused().await
    }
}
