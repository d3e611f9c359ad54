// Lines over time, with the same numbers as a table.

import { html, useState } from '../../vendor/preact.js';
import { number } from '../../core/format.js';
import { Choice } from '../../ui/chips.js';
import { Table } from '../table/table.js';
import { nameAt } from './moments.js';
import { Plot } from './plot.js';
import { PrintedChart } from './printed.js';
import { hasRunning, SO_FAR } from './running.js';
import { Swatch } from './swatch.js';
import { loadUPlot } from './uplot.js';

export { Change, Figure, Figures } from './figures.js';

/**
 * A line. `area`: the first series, filled. `line`: another one. `before`: the period before, dashed. The others are lines beside
 * each other, of which none is more than the others.
 * @typedef {object} Series
 * @property {string} label
 * @property {'area' | 'line' | 'before' | 'first' | 'second' | 'third' | 'fourth' | 'fifth'} look
 * @property {(number | null)[]} values one for each of the times; `null` where there is none
 */

/** @typedef {'chart' | 'table'} View */

/**
 * @typedef {object} ChartProps
 * @property {string} label what is shown, such as `Clicks by day`
 * @property {number[]} times when each value begins, in seconds since 1970, ascending
 * @property {Series[]} series
 * @property {import('./moments.js').Unit} unit
 * @property {string[]} [names] of the times, where the unit doesn't tell them
 * @property {string} [zone] whose days they are, if they aren't the visitor's
 * @property {number} [running] which of the times isn't over
 * @property {number} [height]
 * @property {string} [suffix] of each number, such as ` ms`
 */

/** Loads what draws, while the numbers are still read; a failure is shown by the chart that needs it. */
export const prepareCharts = () => void loadUPlot().catch(() => {});

const VIEWS = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
];

/**
 * @param {ChartProps & { controls?: unknown, view?: View, onView?: (view: View) => void }} props `controls` stand beside the
 *   switch; a page that has `view` in its address gives it and is told of changes
 */
export function TimeChart({ controls, view: given, onView, ...chart }) {
  const [chosen, setChosen] = useState(/** @type {View} */ ('chart'));
  const view = given ?? chosen;
  return html`<figure class="chart" aria-label=${chart.label}>
    <div class="chart-head">
      <${Legend} ...${chart} />
      <div class="actions">${controls}<${Choice} label="View as" value=${view} options=${VIEWS} onChange=${onView ?? setChosen} /></div>
    </div>
    ${view === 'table' ? html`<${Numbers} ...${chart} />` : html`<${Plot} ...${chart} /><${PrintedChart} ...${chart} />`}
  </figure>`;
}

/** @type {Record<import('./moments.js').Unit, string>} */
const UNITS = { day: 'Day', hour: 'Hour', minute: 'Time', week: 'Week', month: 'Month' };

/** What the running time is called in a legend. @param {import('./moments.js').Unit} unit */
export const runningLabel = (unit) => `${UNITS[unit]} ${SO_FAR}`;

/** @param {ChartProps} props */
function Legend({ series, unit, running }) {
  return html`<ul class="legend">
    ${series.length > 1 && series.map(({ label, look }) => html`<li key=${label}><${Swatch} look=${look} /><bdi>${label}</bdi></li>`)}
    ${hasRunning({ series, running }) && html`<li key="running"><${Swatch} look="running" />${runningLabel(unit)}</li>`}
  </ul>`;
}

const TABLE_ROOM = 80;

/** @param {ChartProps} chart */
function Numbers(chart) {
  const { label, times, series, unit, suffix = '', height = 240 } = chart;
  /** @type {import('../table/table.js').Column<number>[]} */
  const columns = [
    { label: UNITS[unit], cell: (at) => nameAt(chart, at), isHeader: true },
    ...series.map(({ label: name, values }) => ({ label: name, cell: (/** @type {number} */ at) => shown(values[at], suffix), isNumber: true })),
  ];
  const rows = times.map((_, at) => at).reverse();
  return html`<div class="chart-table" style=${{ maxHeight: `${height + TABLE_ROOM}px` }}>
    <${Table} label=${label} columns=${columns} rows=${rows} keyOf=${(/** @type {number} */ at) => String(times[at])} />
  </div>`;
}

/** @param {number | null | undefined} value @param {string} suffix */
const shown = (value, suffix) => (value === null || value === undefined ? '–' : number(value) + suffix);
