// What can be kept of the page, as it shows it.

import { html, useState } from '../../vendor/preact.js';
import { SO_FAR } from '../../parts/chart/running.js';
import { rowsOf, SaveMenu } from '../../parts/panels/panels.js';
import { KINDS_OF_LINKS, readBreakdowns, useBreakdowns } from './breakdowns.js';
import { chartOf, datesIn, timeIn } from './time.js';

/** @typedef {import('../../parts/panels/save-menu.js').Keepable} Keepable */
/** @typedef {import('./breakdowns.js').LinksBreakdowns} LinksBreakdowns */

/** @param {import('./look.js').Known} props */
export function DownloadMenu({ overview, view, past }) {
  const [isWanted, setWanted] = useState(false);
  const { data } = useBreakdowns(view, isWanted);
  const name = overview.tag || view.tag || 'overview';
  const chart = chartOf(overview, view, past);
  const title = `clicks by ${view.unit}, ${datesIn(view)}`;
  const noteOf = (/** @type {string} */ date) => (overview.as_of.startsWith(date) ? SO_FAR : '');
  const days = timeIn(overview, view, past).days.map(({ date, clicks, human_clicks }) => [date, clicks, human_clicks, noteOf(date)]);
  /** @type {Keepable[]} */
  const items = [
    { label: 'Chart image', note: 'PNG', save: (part) => part.savePicture(`${name}-clicks`, view.tag ? `${name}: ${title}` : `C${title.slice(1)}`, chart) },
    { label: 'Clicks over time', note: 'CSV', save: (part) => part.saveRows(`${name}-series`, ['period', 'clicks', 'human_clicks', 'note'], days) },
    ...KINDS_OF_LINKS.map((kind) => ({
      label: kind.title,
      note: 'CSV',
      save: async (/** @type {import('../../parts/panels/save-menu.js').Download} */ part) => {
        const rows = rowsOf(kind, data ?? (await readBreakdowns(view)));
        part.saveRows(`${name}-${kind.table}`, [kind.name, 'count'], rows.map(({ value, count }) => [value, count]));
      },
    })),
  ];
  return html`<${SaveMenu} items=${items} onOpen=${() => setWanted(true)} />`;
}
