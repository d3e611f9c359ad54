// Which days are shown, as the address has them: `from` and `to`.

import { html, useState } from '../../vendor/preact.js';
import { setQuery } from '../../core/router.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';

/** @param {{ title: string, from: string, to: string, onClose: () => void }} props */
export function DatesDialog({ title, from, to, onClose }) {
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
    <${Field} label="To (inclusive)" error=${isBackwards && 'This is before the start date.'} ...${field('to')} />
  <//>`;
}
