// What the clicks had in common, as bars. Each panel shows all values of its kind, also while some of them are asked for.

import { html, useState } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { route, setQuery } from '../../core/router.js';
import { useLatest } from '../../parts/times/times.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Lazy } from '../../ui/lazy.js';
import { Card } from '../../ui/page.js';
import { Skeleton } from '../../ui/states.js';
import { Bars } from './bars.js';
import { filterWithout, KINDS, rowsOf, toggled } from './kinds.js';
import { keyOf, readView } from './read.js';

/** @typedef {import('./kinds.js').Kind} Kind */
/** @typedef {import('./read.js').View} View */
/** @typedef {import('../../parts/times/answer.js').Answer} Answer */

const SHOWN = 10;
/** What was read without the values of a kind stays as it is while one chooses among them. */
const FRESH_MS = 60_000;
const MAP_HEIGHT = 260;

const loadMap = () => import('../../parts/world-map/world-map.js');

/** @param {{ view: View, answer: Answer }} props */
export function Panels({ view, answer }) {
  const shown = KINDS.filter(({ name }) => name !== 'destination' || answer.destinations.length > 0 || view.filter[name]);
  return html`<div class="panels">${shown.map((kind) => html`<${KindPanel} key=${kind.name} kind=${kind} view=${view} answer=${answer} />`)}</div>`;
}

/** @param {{ kind: Kind, view: View, answer: Answer }} props */
function KindPanel({ kind, view, answer }) {
  const [isOpen, setOpen] = useState(false);
  const chosen = view.filter[kind.name] ?? [];
  // Without what is asked of its own kind, so that another value can be had besides.
  const whole = { ...view, filter: filterWithout(view.filter, kind.name) };
  const others = useResource(chosen.length > 0 ? keyOf(whole) : null, () => readView(whole), { freshMs: FRESH_MS });
  const shown = useLatest(chosen.length > 0 ? others.data : answer) ?? answer;

  const rows = rowsOf(kind, shown, chosen);
  const choose = (/** @type {string} */ value) => {
    setOpen(false);
    setQuery({ [kind.name]: toggled(view.filter, kind.name, value) }, { replace: false });
  };
  const props = { kind, rows, total: shown.total_clicks, choose };
  const isMap = kind.name === 'country' && route.get().query.has('map');
  const actions = html`
    ${kind.name === 'country' && html`<${Choice} label="Countries as" value=${isMap ? 'map' : 'list'} options=${FORMS} onChange=${(/** @type {string} */ form) => setQuery({ map: form === 'map' ? '1' : '' })} />`}
    ${rows.length > SHOWN && html`<${Button} kind="quiet" class="compact" aria-label=${`All ${kind.title.toLowerCase()}`} onClick=${() => setOpen(true)}>All<//>`}
  `;
  return html`<${Card} title=${kind.title} actions=${actions} class="panel">
    ${rows.length === 0
      ? html`<p class="muted">${kind.none}</p>`
      : isMap
        ? html`<${Lazy} load=${loadMap} name="WorldMap" waiting=${html`<${Skeleton} height=${MAP_HEIGHT} />`} onFailure=${() => setQuery({ map: '' })} rows=${rows} total=${shown.total_clicks} choose=${choose} />`
        : html`<${Bars} ...${props} limit=${SHOWN} />`}
    ${isOpen && html`<${Dialog} title=${kind.title} onClose=${() => setOpen(false)}><${Bars} ...${props} /><//>`}
  <//>`;
}

const FORMS = [
  { value: 'list', label: 'List' },
  { value: 'map', label: 'Map' },
];
