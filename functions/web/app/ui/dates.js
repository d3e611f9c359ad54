// A filter by days, which the address has as `from` and `to`.

import { html, useState } from '../vendor/preact.js';
import { day } from '../core/format.js';
import { setQuery } from '../core/router.js';
import { Button } from './button.js';
import { Chip } from './chips.js';
import { Dialog } from './dialog.js';
import { Field } from './field.js';

/** @param {{ label: string, title: string, from: string, to: string }} props `title` is that of the dialog */
export function DateFilter({ label, title, from, to }) {
  const [isOpen, setOpen] = useState(false);
  const [first, last] = [from, to].map((text) => text && day(`${text}T12:00`));
  const words = first && last ? `${first} – ${last}` : first ? `Since ${first}` : `Until ${last}`;
  return html`${from || to
    ? html`<${Chip} tone="on" removeLabel="From any time" onRemove=${() => setQuery({ from: '', to: '' })}>${words}<//>`
    : html`<${Chip} onClick=${() => setOpen(true)}>${label}<//>`}
  ${isOpen && html`<${DatesDialog} title=${title} from=${from} to=${to} onClose=${() => setOpen(false)} />`}`;
}

/** @param {{ title: string, from: string, to: string, onClose: () => void }} props */
function DatesDialog({ title, from, to, onClose }) {
  const [dates, setDates] = useState({ from, to });
  const isBackwards = Boolean(dates.from && dates.to && dates.from > dates.to);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isBackwards) return;
    setQuery(dates);
    onClose();
  };
  const field = (/** @type {'from' | 'to'} */ name) => ({
    type: 'date',
    value: dates[name],
    onInput: (/** @type {any} */ event) => setDates({ ...dates, [name]: event.target.value }),
  });
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit">Show<//>`;
  return html`<${Dialog} title=${title} onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <${Field} label="From" ...${field('from')} />
    <${Field} label="To, with that day" error=${isBackwards && 'This is before the first day.'} ...${field('to')} />
  <//>`;
}
