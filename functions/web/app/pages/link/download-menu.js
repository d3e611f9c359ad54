// What can be kept of the page.

import { html } from '../../vendor/preact.js';
import { KINDS, SaveMenu } from '../../parts/panels/panels.js';
import { intervalOf, queryOf } from '../../parts/times/times.js';
import { timeOf } from './read.js';

/** @typedef {import('../../parts/times/answer.js').Answer & { period: import('../../parts/times/period.js').Period }} ShownAnswer */
/** What is on the page, as it is drawn. @typedef {{ answer: ShownAnswer, chart: import('../../parts/chart/chart.js').ChartProps, running?: number }} Shown `running` is when the day or hour begins that isn't over, in seconds since 1970 */

/** @param {{ view: import('./read.js').View, shown?: Shown }} props */
export function DownloadMenu({ view, shown }) {
  const { code } = view;
  const query = () => queryOf(timeOf(view), view.audience, view.filter);
  /** @param {string} label @param {string} name @returns {import('../../parts/panels/save-menu.js').Keepable} */
  const table = (label, name) => ({ label, note: 'CSV', save: (part) => part.saveTable(code, name, { ...query(), interval: intervalOf(timeOf(view).unit) }) });
  const kinds = KINDS.filter(({ name }) => name !== 'destination' || shown?.answer.destinations.length);
  /** @type {import('../../parts/panels/save-menu.js').Keepable[] | undefined} */
  const items = shown && [
    { label: 'Chart image', note: 'PNG', save: (part) => part.savePicture(`${code}-clicks`, `${code}: clicks by ${shown.answer.period.unit}, ${shown.answer.period.dates}`, shown.chart) },
    { label: 'Clicks over time', note: 'CSV', save: (part) => part.saveSeries(code, { ...query(), interval: intervalOf(timeOf(view).unit) }, shown.running) },
    ...kinds.map(({ title, table: name }) => table(title, name)),
    { label: 'Individual clicks', note: 'CSV', save: (part) => part.saveClicks(code, query()) },
  ];
  return html`<${SaveMenu} items=${items} />`;
}
