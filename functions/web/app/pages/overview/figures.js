// The numbers on top of the page, each with what has changed.

import { html } from '../../vendor/preact.js';
import { counted, number, shortNumber } from '../../core/format.js';
import { Figure, Figures } from '../../parts/chart/chart.js';
import { timeIn } from './time.js';

/** @typedef {import('../../core/lists.js').Overview} Overview */

/** Links that don’t work as they are, or that lists leave out. @type {[keyof Overview['links'], string][]} */
const OTHER_LINKS = [['inactive', 'disabled'], ['scheduled', 'scheduled'], ['exhausted', 'at their limit'], ['expired', 'expired'], ['suspended', 'suspended'], ['archived', 'archived']];

/** @param {import('./look.js').Known} props */
export function OverviewFigures({ overview, view, past }) {
  const { sums } = timeIn(overview, view, past);
  const { today } = overview.clicks;
  const figure = (/** @type {number} */ now, /** @type {number | null} */ before) => ({ ...valueOf(now), change: { now, before }, than: view.days.before?.name });
  // A day that isn't over can't be compared with a whole one.
  const note = `${counted(today.human_clicks, 'human click')}, ${counted(today.total_clicks_before, 'click')} yesterday`;
  return html`<${Figures} label="Statistics">
    <${Figure} label="Clicks" ...${figure(sums.total_clicks, sums.total_clicks_before)} />
    <${Figure} label="Human clicks" hint="Without bots and link previews." ...${figure(sums.human_clicks, sums.human_clicks_before)} />
    <${Figure} label="Clicks today (UTC)" ...${valueOf(today.total_clicks)} note=${note} />
    <${Figure} label="Links" ...${valueOf(overview.links.total)} note=${noteOfLinks(overview.links)} />
  <//>`;
}

/** What is there until the numbers are. */
export const WaitingFigures = () => html`<${Figures} label="Statistics">${['Clicks', 'Human clicks', 'Clicks today (UTC)', 'Links'].map((label) => html`<${Figure} label=${label} />`)}<//>`;

/** @param {number} value */
const valueOf = (value) => ({ value: shortNumber(value), title: number(value) });

/** @param {Overview['links']} links */
function noteOfLinks(links) {
  const others = OTHER_LINKS.flatMap(([name, word]) => (links[name] ? `${number(links[name])} ${word}` : []));
  return [`${number(links.active)} active`, ...others].join(', ');
}
