import { html } from '../vendor/preact.js';
import { number, percent, shortNumber } from '../core/format.js';

/**
 * Values with their counts as bars, the largest first.
 * @param {{ label: string, rows: { name: string, title?: string, count: number }[], total?: number, limit?: number }} props `total` is what shares are of
 */
export function Bars({ label, rows, total, limit }) {
  const all = total ?? rows.reduce((sum, row) => sum + row.count, 0);
  const most = Math.max(1, ...rows.map((row) => row.count));
  return html`<ol class="bars" aria-label=${label}>
    ${rows.slice(0, limit).map(
      (row) => html`<li key=${row.name}>
        <span class="bar" aria-hidden="true" style=${{ width: `${(100 * row.count) / most}%` }}></span>
        <span class="bar-name" dir="auto" title=${row.title ?? row.name}>${row.name}</span>
        <span class="bar-count" title=${number(row.count)}>${shortNumber(row.count)}</span>
        <span class="bar-share">${all > 0 ? percent(row.count / all) : ''}</span>
      </li>`,
    )}
  </ol>`;
}
