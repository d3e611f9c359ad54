// Which clicks an overview is about, and what of an answer is about them.

import { audienceOf } from '../../parts/times/audience.js';
import { daysBetween, daysOf, utcDayOf } from '../../parts/times/period.js';

/** @typedef {import('../../core/lists.js').Overview} Overview */
/** @typedef {import('../../core/lists.js').OverviewQuery} OverviewQuery */
/** @typedef {Overview['days']} DayCounts */

/**
 * @typedef {object} View
 * @property {string} tag of the links, or empty for all links
 * @property {import('../../parts/times/period.js').Days} days
 * @property {import('../../parts/times/audience.js').Audience} audience whose clicks the panels show
 */

/** What an address asks for. @param {URLSearchParams} query @param {string} tag @param {number} now @returns {View} */
export const viewOf = (query, tag, now) => ({ tag, days: daysOf(query, utcDayOf(now)), audience: audienceOf(query) });

/** The query of another page about the same time and audience. @param {URLSearchParams} query */
export const keptOf = (query) => Object.fromEntries(['range', 'from', 'to', 'audience'].map((name) => [name, query.getAll(name)]));

/** The API is asked about exactly these days. @param {View} view @returns {Required<OverviewQuery>} */
export const timeQueryOf = ({ tag, days }) => ({ tag, from: days.first, to: days.last });

/** Without being asked for a time, the API tells the last 60 days: enough for these ranges and the time before. @param {View} view @returns {OverviewQuery} */
export const queryOfView = (view) => (['7d', '30d'].includes(view.days.range) ? { tag: view.tag } : timeQueryOf(view));

/** Whether the top links of an answer are those of the view; without a time, they are those of 7 days. @param {Overview} overview @param {View} view */
export const hasTopLinks = (overview, { days }) => overview.period !== null || days.range === '7d';

/**
 * What of an answer is about the view.
 * @param {Overview} overview
 * @param {View} view
 */
export function timeIn({ period, clicks, days }, view) {
  if (period) return { sums: period, days, before: /** @type {DayCounts} */ ([]), covers: period.covers };
  const { range, first, last } = view.days;
  const length = daysBetween(first, last);
  const sums = range === '7d' ? clicks.last_7_days : clicks.last_30_days;
  return { sums, days: days.slice(-length), before: days.slice(-2 * length, -length), covers: null };
}

/** How the time before is called. @param {View} view */
export const nameBefore = ({ days: { range, name } }) => (range === 'own' ? 'time' : name);

const CHART_HEIGHT = 260;

/** What is drawn. @param {Overview} overview @param {View} view @returns {import('../../parts/chart/chart.js').ChartProps} */
export function chartOf(overview, view) {
  const { days, before } = timeIn(overview, view);
  /** @type {import('../../parts/chart/chart.js').Series[]} */
  const series = [
    { label: 'Human clicks', look: 'area', values: days.map(({ human_clicks }) => human_clicks) },
    { label: 'All clicks', look: 'line', values: days.map(({ clicks }) => clicks) },
  ];
  if (before.length === days.length) series.push({ label: `The ${nameBefore(view)} before`, look: 'before', values: before.map(({ clicks }) => clicks) });
  return { label: `Clicks by day, ${view.days.name}`, times: days.map(({ date }) => Date.parse(date) / 1000), series, unit: 'day', height: CHART_HEIGHT };
}
