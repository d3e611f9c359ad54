import { html, useState } from '../../vendor/preact.js';
import { number } from '../../core/format.js';
import { route, setQuery } from '../../core/router.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Lazy } from '../../ui/lazy.js';
import { Card } from '../../ui/page.js';
import { Skeleton } from '../../ui/states.js';
import { Bars } from './bars.js';

const SHOWN = 10;
const MAP_HEIGHT = 260;

const FORMS = [
  { value: 'list', label: 'List' },
  { value: 'map', label: 'Map' },
];

const loadMap = () => import('../world-map/world-map.js');

/**
 * The values of a kind as bars; countries also on a map.
 * @param {object} props
 * @param {import('./kinds.js').Kind} props.kind
 * @param {import('./kinds.js').Row[]} props.rows
 * @param {number} props.total what shares are of
 * @param {(value: string) => void} [props.choose] takes a value that is pressed; without it, none can be
 */
export function Panel({ kind, rows, total, choose }) {
  const [isOpen, setOpen] = useState(false);
  const take = choose && ((/** @type {string} */ value) => {
    setOpen(false);
    choose(value);
  });
  const props = { rows, total, choose: take };
  const isMap = kind.name === 'country' && route.get().query.has('map');
  const actions = html`
    ${kind.name === 'country' && html`<${Choice} label="View countries as" value=${isMap ? 'map' : 'list'} options=${FORMS} onChange=${(/** @type {string} */ form) => setQuery({ map: form === 'map' ? '1' : '' })} />`}
    ${rows.length > SHOWN && html`<${Button} kind="quiet" class="compact" aria-label=${`All ${kind.title.toLowerCase()}`} onClick=${() => setOpen(true)}>All<//>`}
  `;
  return html`<${Card} title=${kind.title} actions=${actions} class="panel">
    ${rows.length === 0
      ? html`<p class="muted">${kind.none}</p>`
      : isMap
        ? html`<${Lazy} load=${loadMap} name="WorldMap" waiting=${html`<${Skeleton} height=${MAP_HEIGHT} />`} onFailure=${() => setQuery({ map: '' })} ...${props} />`
        : html`<${Bars} kind=${kind} ...${props} limit=${SHOWN} />`}
    ${rows.length > SHOWN && html`<p class="printed-more small-print" hidden>and ${number(rows.length - SHOWN)} more</p>`}
    ${isOpen && html`<${Dialog} title=${kind.title} onClose=${() => setOpen(false)}><${Bars} kind=${kind} ...${props} /><//>`}
  <//>`;
}
