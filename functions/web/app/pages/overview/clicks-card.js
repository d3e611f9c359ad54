import { html } from '../../vendor/preact.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { TimeChart } from '../../parts/chart/chart.js';
import { Choice } from '../../ui/chips.js';
import { Card } from '../../ui/page.js';

/** @typedef {import('../../core/lists.js').Overview['days'][number]} Day */

const RANGES = [
  { value: '7d', label: '7 d' },
  { value: '30d', label: '30 d' },
];
const LENGTHS = { '7d': 7, '30d': 30 };

/** Clicks by day, beside the days before. @param {{ days: Day[] }} props */
export function ClicksCard({ days }) {
  const { query } = useStore(route);
  const range = query.get('range') === '7d' ? '7d' : '30d';
  const view = query.has('table') ? 'table' : 'chart';
  const actions = html`<${Choice} label="Range" value=${range} options=${RANGES} onChange=${(/** @type {string} */ value) => setQuery({ range: value })} />`;
  return html`<${Card} title="Clicks over time" actions=${actions} class="traffic">
    <${TimeChart} label="Clicks by day" unit="day" height=${260} view=${view} onView=${showAs} ...${linesOf(days, LENGTHS[range])} />
    <p class="small-print">Days are those of UTC. People are visits by humans, without bots and link previews.</p>
  <//>`;
}

/** @param {string} view */
const showAs = (view) => setQuery({ table: view === 'table' ? '1' : '' });

/** @param {Day[]} days @param {number} length */
function linesOf(days, length) {
  const now = days.slice(-length);
  const before = days.slice(-2 * length, -length);
  return {
    times: now.map(({ date }) => Date.parse(date) / 1000),
    series: [
      { label: 'People', look: 'area', values: now.map(({ people }) => people) },
      { label: 'All clicks', look: 'line', values: now.map(({ clicks }) => clicks) },
      ...(before.length === now.length ? [{ label: `The ${length} days before`, look: 'before', values: before.map(({ clicks }) => clicks) }] : []),
    ],
  };
}
