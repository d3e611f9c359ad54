import { html } from '../../vendor/preact.js';
import { number } from '../../core/format.js';
import { TimeChart } from '../../parts/chart/chart.js';
import { isGood, latencyOf } from '../../parts/checks/checks.js';
import { Card } from '../../ui/page.js';

/** @typedef {import('./targets.js').CheckResult} CheckResult */

/** How long each answer took, and below it whether there was one. @param {{ results: CheckResult[] }} props newest first */
export function Latency({ results }) {
  const oldestFirst = [...results].reverse();
  const times = oldestFirst.map((result) => Date.parse(result.checked_at) / 1000);
  const values = oldestFirst.map(latencyOf);
  const hasValues = values.some((value) => value !== null);
  const bad = results.filter((result) => !isGood(result)).length;
  return html`<${Card} title="Latency">
    ${hasValues
      ? html`<${TimeChart} label="Latency of recent checks" times=${times} series=${[{ label: 'Latency', look: 'area', values }]} unit="minute" height=${220} suffix=" ms" />`
      : html`<p class="muted">No response with a measurable latency.</p>`}
    <div class="strip" aria-hidden="true">
      ${oldestFirst.map((result) => html`<i key=${result.checked_at} class=${isGood(result) ? '' : 'bad'}></i>`)}
    </div>
    <p class="small-print">${summaryOf(results.length, bad)}</p>
  <//>`;
}

/** @param {number} all @param {number} bad */
function summaryOf(all, bad) {
  if (all === 1) return `The only check so far ${bad ? 'failed' : 'succeeded'}.`;
  return bad === 0 ? `All of the last ${number(all)} checks succeeded.` : `${number(bad)} of the last ${number(all)} checks failed.`;
}
