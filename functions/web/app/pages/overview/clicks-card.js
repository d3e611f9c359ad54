import { html } from '../../vendor/preact.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Chart } from '../../parts/chart/chart.js';
import { Button } from '../../ui/button.js';
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
  const isTable = query.has('table');
  const actions = html`<${Choice} label="Range" value=${range} options=${RANGES} onChange=${(/** @type {string} */ value) => setQuery({ range: value })} />
    <${Button} kind="quiet" icon=${isTable ? 'chart' : 'table'} onClick=${() => setQuery({ table: isTable ? '' : '1' })}>${isTable ? 'Chart' : 'Table'}<//>`;
  return html`<${Card} title="Clicks over time" actions=${actions} class="traffic">
    <${Chart} label="Clicks by day" unit="day" height=${260} isTable=${isTable} ...${linesOf(days, LENGTHS[range])} />
    <p class="small-print">Days are those of UTC. People are visits by humans, without bots and link previews.</p>
  <//>`;
}

/** @param {Day[]} days @param {number} length */
function linesOf(days, length) {
  const now = days.slice(-length);
  const before = days.slice(-2 * length, -length);
  return {
    times: now.map(({ date }) => Date.parse(date) / 1000),
    series: [
      { label: 'People', kind: 'area', values: now.map(({ people }) => people) },
      { label: 'All clicks', kind: 'line', values: now.map(({ clicks }) => clicks) },
      ...(before.length === now.length ? [{ label: `The ${length} days before`, kind: 'before', values: before.map(({ clicks }) => clicks) }] : []),
    ],
  };
}
