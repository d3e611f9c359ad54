// Which days are shown, as the address has them: `from` and `to`.

import { html, useState } from '../../vendor/preact.js';
import { setQuery } from '../../core/router.js';
import { Field } from '../../ui/field.js';
import { Popover } from './popover.js';

/** @param {{ title: string, from: string, to: string, onClose: () => void }} props */
export function DatesPopover({ title, from, to, onClose }) {
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
  return html`<${Popover} title=${title} onSubmit=${submit} onClose=${onClose}>
    <${Field} label="From" ...${field('from')} />
    <${Field} label="To (inclusive)" error=${isBackwards && 'This is before the start date.'} ...${field('to')} />
  <//>`;
}
