// Which clicks an overview is about, and what of its answers is about them.

import { audienceOf } from '../../parts/times/audience.js';
import { DAY_MS, datesOf, daysBetween, daysOf, nameOfLine, unitOf, utcDayOf } from '../../parts/times/period.js';
import { summedUp } from '../../parts/times/groups.js';

/** @typedef {import('../../core/lists.js').Overview} Overview */
/** @typedef {import('../../parts/link-changes/counts.js').OverviewQuery} OverviewQuery */
/** @typedef {Overview['days']} DayCounts */
/** Clicks of a time, and of the time before if these are known. @typedef {{ total_clicks: number, human_clicks: number, total_clicks_before: number | null, human_clicks_before: number | null }} Sums */

/**
 * @typedef {object} View
 * @property {string} tag of the links, or empty for all links
 * @property {import('../../parts/times/period.js').Days} days
 * @property {import('../../parts/times/period.js').PeriodUnit} unit what the chart counts by
 * @property {import('../../parts/times/period.js').PeriodUnit[]} units
 * @property {string} today
 * @property {import('../../parts/times/audience.js').Audience} audience whose clicks the panels show
 */

/** Without being asked for a time, the API tells so many days. */
const KNOWN_DAYS = 60;

/** What an address asks for. @param {URLSearchParams} query @param {string} tag @param {number} now @returns {View} */
export function viewOf(query, tag, now) {
  const today = utcDayOf(now);
  const days = daysOf(query, today);
  const [unit, units] = unitOf(query, daysBetween(days.first, days.last));
  // Totals know no hours.
  return { tag, days, unit: unit === 'hour' ? 'day' : unit, units: units.filter((one) => one !== 'hour'), today, audience: audienceOf(query) };
}

/** The query of another page about the same time and audience. @param {URLSearchParams} query */
export const keptOf = (query) => Object.fromEntries(['range', 'from', 'to', 'interval', 'audience'].map((name) => [name, query.getAll(name)]));

/** The API is asked about exactly these days. @param {View} view @returns {Required<OverviewQuery>} */
export const timeQueryOf = ({ tag, days }) => ({ tag, from: days.first, to: days.last });

/** Whether the days, and those before, are among those that the API tells without being asked for a time. @param {View} view */
const isRecent = ({ days: { first, before }, today }) => Date.parse(before?.first ?? first) > Date.parse(today) - KNOWN_DAYS * DAY_MS;

/** @param {View} view @returns {OverviewQuery} */
export const queryOfView = (view) => (isRecent(view) ? { tag: view.tag } : timeQueryOf(view));

/** What is asked about the time before, if that is another question. @param {View} view @returns {OverviewQuery | undefined} */
export function queryOfBefore(view) {
  const { before } = view.days;
  return before && !isRecent(view) ? { tag: view.tag, from: before.first, to: before.last } : undefined;
}

/** Whether the top links of an answer are those of the view; without a time, they are those of 7 days. @param {Overview} overview @param {View} view */
export const hasTopLinks = (overview, { days }) => overview.period !== null || days.range === '7d';

/**
 * What of the answers is about the view.
 * @param {Overview} overview
 * @param {View} view
 * @param {Overview} [past] about the time before, if that was another question
 * @returns {{ sums: Sums, days: DayCounts, before: DayCounts | undefined, covers: import('../../core/lists.js').CoveredLinks | null }}
 */
export function timeIn({ period, clicks, days }, view, past) {
  const { range, first, last, before } = view.days;
  const within = (/** @type {{ first: string, last: string }} */ time) => days.filter(({ date }) => date >= time.first && date <= time.last);
  if (period) {
    const known = { total_clicks: period.total_clicks, human_clicks: period.human_clicks };
    const sums = { ...known, total_clicks_before: past?.period?.total_clicks ?? null, human_clicks_before: past?.period?.human_clicks ?? null };
    return { sums, days, before: past?.days, covers: period.covers ?? past?.period?.covers ?? null };
  }
  const length = daysBetween(first, last);
  // These are sums of the API, which may be a day behind in the first minute of a day.
  if (range === '7d') return { sums: clicks.last_7_days, days: days.slice(-length), before: days.slice(-2 * length, -length), covers: null };
  if (range === '30d') return { sums: clicks.last_30_days, days: days.slice(-length), before: days.slice(-2 * length, -length), covers: null };
  const [now, then] = [within({ first, last }), before && within(before)];
  // A day that isn't over can't be compared with a whole one.
  const compared = range === 'today' ? undefined : then;
  const sums = { total_clicks: sumOf(now, 'clicks'), human_clicks: sumOf(now, 'human_clicks'), total_clicks_before: compared ? sumOf(compared, 'clicks') : null, human_clicks_before: compared ? sumOf(compared, 'human_clicks') : null };
  return { sums, days: now, before: then, covers: null };
}

/** @param {DayCounts} days @param {'clicks' | 'human_clicks'} name */
const sumOf = (days, name) => days.reduce((sum, day) => sum + day[name], 0);

/** Which days they are. @param {View} view */
export const datesIn = ({ days }) => `${datesOf(days.first, days.last)} UTC`;

const CHART_HEIGHT = 260;

/**
 * What is drawn.
 * @param {Overview} overview
 * @param {View} view
 * @param {Overview} [past]
 * @returns {import('../../parts/chart/chart.js').ChartProps}
 */
export function chartOf(overview, view, past) {
  const { days, before } = timeIn(overview, view, past);
  /** @type {import('../../parts/chart/chart.js').Series[]} */
  const series = [
    { label: 'Human clicks', look: 'area', values: days.map(({ human_clicks }) => human_clicks) },
    { label: 'All clicks', look: 'line', values: days.map(({ clicks }) => clicks) },
  ];
  if (before && view.days.before) series.push({ label: nameOfLine(view.days.before), look: 'before', values: days.map((_, at) => before[at]?.clicks ?? null) });
  const running = days.findIndex(({ date }) => overview.as_of.startsWith(date));
  const times = days.map(({ date }) => Date.parse(date) / 1000);
  const chart = { label: `Clicks by ${view.unit}, ${view.days.name}`, times, series, unit: /** @type {const} */ ('day'), zone: 'UTC', height: CHART_HEIGHT, ...(running >= 0 && { running }) };
  return summedUp(chart, view.unit);
}
