// What was changed of the link. It is read when somebody wants to see it.

import { html, useState } from '../../vendor/preact.js';
import { Card } from '../../ui/page.js';
import { Lazy } from '../../ui/lazy.js';
import { Skeleton } from '../../ui/states.js';

const load = () => import('../../parts/history/history.js');

/** @param {{ code: string, changedAt?: string }} props `changedAt` is when the link was changed last */
export function HistoryCard({ code, changedAt }) {
  const [isOpen, setOpen] = useState(false);
  return html`<${Card} class="history">
    <details open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
      <summary><h2>History</h2></summary>
      ${isOpen && html`<${Lazy} key=${changedAt} load=${load} name="LinkHistory" waiting=${html`<${Skeleton} rows=${3} height=${40} />`} code=${code} onFailure=${() => setOpen(false)} />`}
    </details>
  <//>`;
}
