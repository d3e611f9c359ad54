//! Settling: moving days into the past, so that reading a link's whole life doesn't read every day.

use linklet_domain::{ClickCount, Day, DaySlice, LinkId, Rollup, Totals, WorkspaceId};

use super::{
    CommitOutcome, StatsTable,
    item::{DAY_PREFIX, PastItem, day_sort_key},
    totals::TotalChange,
};
use crate::{
    RepositoryError,
    item::{number, text},
};

const SETTLE: &str = "settle days";

impl StatsTable {
    /// Moves the days before `until` into the past, if nothing has changed the link's past since `totals` was read. They must
    /// not be recent: clicks of such days change the epoch of the total, on which this write has a condition. So the days are
    /// the same at the commit as when they are read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then nothing has changed, or all of it.
    pub async fn settle(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
        totals: &Totals,
        until: Day,
    ) -> Result<CommitOutcome, RepositoryError> {
        let first = totals.past_until.map_or_else(|| DAY_PREFIX.to_owned(), day_sort_key);
        let rows = self.rows_between(SETTLE, link, &first, &day_sort_key(until), true).await?;
        let settling = rows.slices.range(..DaySlice::from(until));
        let past = Rollup::extended(self.past(link).await?, until, settling.clone().map(|(_, counted)| &counted.stats));
        let mut change = TotalChange::of(totals);
        change.note_click(totals, past.last_click_at);
        change.set(&"past_clicks", number(&past.profile.clicks));
        change.set(&"past_until", text(&until));
        let settled = settling.clone().map(|(slice, counted)| (slice.day, ClickCount::from(&counted.stats)));
        let history = Totals::history_until(until, totals.history.clone().into_iter().chain(settled));
        change.set_history(until, &history);
        // Also days whose number is not in the total that was read, since it may be there by now.
        settling.for_each(|(slice, _)| change.remove(*slice));
        totals.open.range(..DaySlice::from(until)).for_each(|(slice, _)| change.remove(*slice));
        let past = self.table.put(SETTLE, &PastItem::new(link, &past))?;
        self.transact(SETTLE, vec![past, self.change_total(workspace, link, change)?]).await
    }
}
