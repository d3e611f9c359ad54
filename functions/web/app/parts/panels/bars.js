import { html } from '../../vendor/preact.js';
import { number, percents, shortNumber } from '../../core/format.js';
import { OTHERS } from './kinds.js';

/**
 * The values of a kind with their counts as bars, the largest first.
 * @param {{ kind: import('./kinds.js').Kind, rows: import('./kinds.js').Row[], total: number, limit?: number, choose?: (value: string) => void }} props `total` is what shares are of; without `choose`, none can be pressed
 */
export function Bars({ kind, rows, total, limit, choose }) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  const shown = rows.slice(0, limit);
  const shares = total > 0 ? percents(shown.map((row) => row.count / total)) : [];
  return html`<ol class="bars" aria-label=${kind.title}>
    ${shown.map(({ value, name, count, isChosen }, at) => {
      const isButton = choose && value !== OTHERS;
      const hidden = (/** @type {string} */ text) => isButton && html`<span class="hidden">${text}</span>`;
      const inner = html`${hidden(`${kind.one}: `)}<span class="bar" aria-hidden="true" style=${{ width: `${(100 * count) / most}%` }}></span>
        <span class="bar-name" dir="auto" title=${name}>${name}</span>
        <span class="bar-count" title=${number(count)}>${shortNumber(count)}${hidden(count === 1 ? ' click' : ' clicks')}</span>
        <span class="bar-share">${shares[at]}</span>`;
      return html`<li key=${value}>
        ${!isButton ? html`<span class="bar-row">${inner}</span>` : html`<button type="button" class="bar-row" aria-pressed=${isChosen} onClick=${() => choose(value)}>${inner}</button>`}
      </li>`;
    })}
  </ol>`;
}
