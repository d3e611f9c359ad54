// A filter by days, which the address has as `from` and `to`.

import { html, useState } from '../vendor/preact.js';
import { day } from '../core/format.js';
import { setQuery } from '../core/router.js';
import { Chip } from './chips.js';
import { useLaterFocus } from './later-focus.js';
import { Lazy } from './lazy.js';

/** @param {{ label: string, title: string, from: string, to: string }} props `title` is that of the dialog */
export function DateFilter({ label, title, from, to }) {
  const [isOpen, setOpen] = useState(false);
  const { part, focusLater } = useLaterFocus();
  const focused = (/** @type {() => void} */ change) => () => {
    focusLater('button');
    change();
  };
  const close = focused(() => setOpen(false));
  const [first, last] = [from, to].map((text) => text && day(`${text}T12:00`));
  const words = first && last ? `${first} – ${last}` : first ? `Since ${first}` : `Until ${last}`;
  return html`<div class="chips" ref=${part}>${from || to
    ? html`<${Chip} tone="on" removeLabel="Clear dates" onRemove=${focused(() => setQuery({ from: '', to: '' }))}>${words}<//>`
    : html`<${Chip} onClick=${() => setOpen(true)}>${label}<//>`}
  ${isOpen && html`<${Lazy} load=${() => import('../parts/dates/dates.js')} name="DatesDialog" title=${title} from=${from} to=${to} onFailure=${close} onClose=${close} />`}</div>`;
}
