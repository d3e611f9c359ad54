import { html } from '../../vendor/preact.js';
import { day, number } from '../../core/format.js';
import { isGood, latencyText } from '../../parts/checks/checks.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Table } from '../../parts/table/table.js';
import { Time } from '../../ui/time.js';
import { outcome } from './targets.js';

/** @typedef {import('./targets.js').CheckResult} CheckResult */

const FIRST = 12;
const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', second: '2-digit' });

/** `14:05:12`, with the day if it isn't today. @param {string} at */
const secondOf = (at) => (day(at) === day(new Date()) ? '' : `${day(at)}, `) + clock.format(new Date(at));

/** @param {{ results: CheckResult[], isAll: boolean, showAll: () => void }} props */
export function Results({ results, isAll, showAll }) {
  const shown = isAll ? results : results.slice(0, FIRST);
  const columns = [
    { label: 'Time', isHeader: true, cell: (/** @type {CheckResult} */ result) => html`<${Time} at=${result.checked_at}>${secondOf(result.checked_at)}<//>` },
    { label: 'Result', cell: (/** @type {CheckResult} */ result) => html`<${Status} tone=${isGood(result) ? 'good' : 'bad'}>${outcome(result)}<//>` },
    { label: 'Latency', isNumber: true, cell: (/** @type {CheckResult} */ result) => latencyText(result) || '–' },
  ];
  return html`<${Table} isStacked label="Results, newest first" columns=${columns} rows=${shown} keyOf=${(/** @type {CheckResult} */ result) => result.checked_at} />
    ${results.length > shown.length && html`<p class="row"><${Button} onClick=${showAll}>Show all ${number(results.length)}<//></p>`}
    <p class="small-print">Up to 100 recent checks. Results are kept for 30 days.</p>`;
}
