// A filter by days, which the address has as `from` and `to`.

import { html, useState } from '../../vendor/preact.js';
import { day } from '../../core/format.js';
import { setQuery } from '../../core/router.js';
import { Chip } from '../../ui/chips.js';
import { Icon } from '../../ui/icons.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Lazy } from '../../ui/lazy.js';

/** @param {{ label: string, title: string, from: string, to: string }} props `title` is that of the popover */
export function DateFilter({ label, title, from, to }) {
  const [isOpen, setOpen] = useState(false);
  const { part, focusLater } = useLaterFocus();
  const focused = (/** @type {() => void} */ change) => () => {
    focusLater('button');
    change();
  };
  const close = focused(() => setOpen(false));
  // Whoever has gone elsewhere stays there.
  const leave = () => (part.current?.contains(document.activeElement) ? close() : setOpen(false));
  const [first, last] = [from, to].map((text) => text && day(`${text}T12:00`));
  const words = first && last ? `${first} – ${last}` : first ? `Since ${first}` : `Until ${last}`;
  return html`<div class="menu" ref=${part}>${from || to
    ? html`<${Chip} tone="on" removeLabel="Clear dates" onRemove=${focused(() => setQuery({ from: '', to: '' }))}>${words}<//>`
    : html`<button type="button" class="chip" aria-haspopup="dialog" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${label}<${Icon} name="down" /></button>`}
  ${isOpen && html`<${Lazy} load=${() => import('../dates/dates.js')} name="DatesPopover" onFailure=${close} title=${title} from=${from} to=${to} onClose=${leave} />`}</div>`;
}
