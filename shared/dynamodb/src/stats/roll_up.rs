//! Roll-up: moving days into the past, so that reading a link's whole life doesn't read every day.

use linklet_domain::{ClickCount, Day, DaySlice, LinkId, Rollup, Totals, WorkspaceId};

use super::item::{DAY_PREFIX, PastItem, day_sort_key};
use super::totals::TotalChange;
use super::{CommitOutcome, StatsTable};
use crate::Result;
use crate::item::{number, text};

const ROLL_UP: &str = "roll up days";

impl StatsTable {
    /// Moves the days before `until` into the past, if nothing has changed the link's past since `totals` was read. They must
    /// not be recent: clicks of such days change the epoch of the total, on which this write has a condition. So the days are
    /// the same at the commit as when they are read.
    ///
    /// # Errors
    /// When DynamoDB can't be reached; then nothing has changed, or all of it.
    pub async fn roll_up(
        &self,
        workspace: &WorkspaceId,
        link: &LinkId,
        totals: &Totals,
        until: Day,
    ) -> Result<CommitOutcome> {
        let first = totals.past_until.map_or_else(|| DAY_PREFIX.to_owned(), day_sort_key);
        let rows = self.rows_between(ROLL_UP, link, &first, &day_sort_key(until), true).await?;
        let old_days = rows.slices.range(..DaySlice::from(until));
        let past = Rollup::extended(self.past(link).await?, until, old_days.clone().map(|(_, counted)| &counted.stats));
        let mut change = TotalChange::of(totals);
        change.note_click(totals, past.last_click_at);
        change.set(&"past_clicks", number(&past.profile.clicks));
        change.set(&"past_until", text(&until));
        let rolled_up = old_days.clone().map(|(slice, counted)| (slice.day, ClickCount::from(&counted.stats)));
        let history = Totals::history_until(until, totals.history.clone().into_iter().chain(rolled_up));
        change.set_history(until, &history);
        // Also days whose number is not in the total that was read, since it may be there by now.
        old_days.for_each(|(slice, _)| change.remove(*slice));
        totals.open.range(..DaySlice::from(until)).for_each(|(slice, _)| change.remove(*slice));
        let past = self.table.put(&PastItem::new(link, &past))?;
        self.transact(ROLL_UP, vec![past, self.change_total(workspace, link, change)?]).await
    }
}
