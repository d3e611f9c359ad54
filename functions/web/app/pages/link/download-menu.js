// What can be kept of the page.

import { html } from '../../vendor/preact.js';
import { KINDS, SaveMenu } from '../../parts/panels/panels.js';
import { AUDIENCES } from '../../parts/times/audience.js';
import { intervalOf, queryOf } from '../../parts/times/times.js';
import { timeOf } from './read.js';

/** @typedef {import('../../parts/times/answer.js').Answer & { period: import('../../parts/times/period.js').Period }} ShownAnswer */
/** @typedef {import('./read.js').View} View */
/** What is on the page, as it is drawn. @typedef {{ answer: ShownAnswer, chart: import('../../parts/chart/chart.js').ChartProps, running?: number }} Shown `running` is when the day or hour begins that isn't over, in seconds since 1970 */

/** @param {{ view: View, url: string, shown?: Shown }} props */
export const DownloadMenu = ({ view, url, shown }) => html`<${SaveMenu} kept=${shown && keptOf(view, url, shown)} />`;

/** @param {View} view @param {string} url @param {Shown} shown @returns {import('../../parts/panels/save-menu.js').Kept} */
function keptOf(view, url, { answer, chart, running }) {
  const { code } = view;
  const query = () => queryOf(timeOf(view), view.audience, view.filter);
  const tableQuery = () => ({ ...query(), interval: intervalOf(timeOf(view).unit) });
  const kinds = KINDS.filter(({ name }) => name !== 'destination' || answer.destinations.length);
  return {
    name: code,
    title: `${code}: clicks by ${answer.period.unit}, ${answer.period.dates}`,
    chart,
    about: aboutOf(view, url, answer),
    items: [
      { label: 'Clicks over time', read: (part) => part.readSeries(code, tableQuery(), running) },
      ...kinds.map(({ title, table }) => ({ label: title, read: (/** @type {import('../../parts/panels/save-menu.js').Download} */ part) => part.readTable(code, table, tableQuery()) })),
      { label: 'Days and hours', read: (part) => part.tableOf(`${code}-week`, ['weekday', 'hour', 'clicks'], hoursOf(answer.week)) },
      { label: 'Individual clicks', act: (part) => part.saveClicks(code, query()) },
    ],
  };
}

/** What one has to know to read the tables. @param {View} view @param {string} url @param {ShownAnswer} answer @returns {[string, string][]} */
function aboutOf(view, url, { from, to, tz, as_of: asOf }) {
  const filters = KINDS.flatMap(({ name }) => (view.filter[name] ?? []).map((value) => /** @type {[string, string]} */ ([name, value])));
  return [['short_url', url], ['from', from], ['to', to], ['time_zone', tz], ['as_of', asOf], ['audience', AUDIENCES[view.audience].join(' ')], ...filters];
}

/** Weekdays as ISO 8601 counts them: Monday is 1. @param {number[][]} week */
const hoursOf = (week) => week.flatMap((hours, day) => hours.map((clicks, hour) => [day + 1, hour, clicks]));
