// What visitors had in common, as bars.

import { html, useState } from '../../vendor/preact.js';
import { Bars } from './bars.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Card } from '../../ui/page.js';

const SHOWN = 10;

/** @param {{ panels: import('./numbers.js').Panel[], name: string }} props `name` is the period's */
export function Panels({ panels, name }) {
  return html`<div class="panels">${panels.map((panel) => html`<${PanelCard} key=${panel.title} panel=${panel} name=${name} />`)}</div>`;
}

/** @param {{ panel: import('./numbers.js').Panel, name: string }} props */
function PanelCard({ panel, name }) {
  const [isOpen, setOpen] = useState(false);
  const { title, rows, isAllTime, total } = panel;
  const when = isAllTime ? 'all time' : name;
  const actions = html`<span class="small-print">${when}</span>
    ${rows.length > SHOWN && html`<${Button} kind="quiet" class="compact" aria-label=${`All ${title.toLowerCase()}`} onClick=${() => setOpen(true)}>All<//>`}`;
  return html`<${Card} title=${title} actions=${actions} class="panel">
    ${rows.length === 0 ? html`<p class="muted">Nothing yet.</p>` : html`<${Bars} label=${title} rows=${rows} total=${total} limit=${SHOWN} />`}
    ${isOpen &&
    html`<${Dialog} title=${`${title}, ${when}`} onClose=${() => setOpen(false)}><${Bars} label=${title} rows=${rows} total=${total} /><//>`}
  <//>`;
}
