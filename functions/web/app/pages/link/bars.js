import { html } from '../../vendor/preact.js';
import { number, percents, shortNumber } from '../../core/format.js';

/**
 * Values with their counts as bars, the largest first.
 * @param {{ label: string, rows: { name: string, title?: string, count: number }[], total?: number, limit?: number }} props `total` is what shares are of
 */
export function Bars({ label, rows, total, limit }) {
  const all = total ?? rows.reduce((sum, row) => sum + row.count, 0);
  const most = Math.max(1, ...rows.map((row) => row.count));
  const shown = rows.slice(0, limit);
  const shares = all > 0 ? percents(shown.map((row) => row.count / all)) : [];
  return html`<ol class="bars" aria-label=${label}>
    ${shown.map(
      (row, at) => html`<li key=${row.name}>
        <span class="bar" aria-hidden="true" style=${{ width: `${(100 * row.count) / most}%` }}></span>
        <span class="bar-name" dir="auto" title=${row.title ?? row.name}>${row.name}</span>
        <span class="bar-count" title=${number(row.count)}>${shortNumber(row.count)}</span>
        <span class="bar-share">${shares[at]}</span>
      </li>`,
    )}
  </ol>`;
}
