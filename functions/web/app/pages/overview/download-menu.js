// What can be kept of the page, as it shows it.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { SO_FAR } from '../../parts/chart/running.js';
import { rowsOf, SaveMenu } from '../../parts/panels/panels.js';
import { AUDIENCES } from '../../parts/times/audience.js';
import { KINDS_OF_LINKS, readBreakdowns, useBreakdowns } from './breakdowns.js';
import { chartOf, datesIn, hasTopLinks, timeIn, timeQueryOf } from './time.js';

/** @typedef {import('./breakdowns.js').LinksBreakdowns} LinksBreakdowns */
/** @typedef {import('../../parts/panels/save-menu.js').Download} Download */
/** @typedef {import('./look.js').Known['overview']} Overview */
/** @typedef {import('./time.js').View} View */

const SERIES = ['period', 'clicks', 'human_clicks', 'note'];
const TOP_LINKS = ['short_code', 'short_url', 'clicks', 'human_clicks'];

/** @param {import('./look.js').Known} props */
export function DownloadMenu({ overview, view, past }) {
  const [isWanted, setWanted] = useState(false);
  const { data } = useBreakdowns(view, isWanted);
  const name = overview.tag || view.tag || 'overview';
  const title = `clicks by ${view.unit}, ${datesIn(view)}`;
  const noteOf = (/** @type {string} */ date) => (overview.as_of.startsWith(date) ? SO_FAR : '');
  const days = timeIn(overview, view, past).days.map(({ date, clicks, human_clicks }) => [date, clicks, human_clicks, noteOf(date)]);
  /** All tables are of one answer. @type {LinksBreakdowns | undefined} */
  let breakdowns = data;
  /** @type {import('../../parts/panels/save-menu.js').Kept} */
  const kept = {
    name,
    title: view.tag ? `${name}: ${title}` : `C${title.slice(1)}`,
    chart: chartOf(overview, view, past),
    about: aboutOf(overview, view),
    items: [
      { label: 'Clicks over time', read: (part) => part.tableOf(`${name}-series`, SERIES, days) },
      { label: 'Top links', read: async (part) => part.tableOf(`${name}-top_links`, TOP_LINKS, await readTopLinks(overview, view)) },
      ...KINDS_OF_LINKS.map((kind) => ({
        label: kind.title,
        read: async (/** @type {Download} */ part) => {
          breakdowns ??= await readBreakdowns(view);
          return part.tableOf(`${name}-${kind.table}`, [kind.name, 'count'], rowsOf(kind, breakdowns).map(({ value, count }) => [value, count]));
        },
      })),
    ],
  };
  return html`<${SaveMenu} kept=${kept} onOpen=${() => setWanted(true)} />`;
}

/** @param {Overview} overview @param {View} view */
async function readTopLinks(overview, view) {
  const { top_links: links } = hasTopLinks(overview, view) ? overview : /** @type {Overview} */ (await call('GET /api/overview', { query: timeQueryOf(view) }));
  return links.map((link) => [link.short_code, link.short_url, link.total_clicks, link.human_clicks]);
}

/** What one has to know to read the tables. @param {Overview} overview @param {View} view @returns {[string, string][]} */
const aboutOf = ({ as_of: asOf }, { tag, days, audience }) => [
  ['tag', tag || 'all links'],
  ['first_day', days.first],
  ['last_day', days.last],
  ['time_zone', 'UTC'],
  ['as_of', asOf],
  ['audience', AUDIENCES[audience].join(' ')],
];
