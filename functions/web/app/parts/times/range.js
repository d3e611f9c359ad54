// What the numbers are about: the range, its own first and last day, and days or hours. Each view can be gone back to.

import { html, useState } from '../../vendor/preact.js';
import { setQuery } from '../../core/router.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { dayOf, daysBetween, MOST_DAYS, utcDayOf } from './period.js';

const RANGES = [
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 d' },
  { value: '30d', label: '30 d' },
  { value: '12m', label: '12 mo' },
  { value: 'own', label: 'Own' },
];
const RANGES_OF_DAYS = RANGES.filter(({ value }) => value !== '24h');

const UNITS = [
  { value: 'day', label: 'Days' },
  { value: 'hour', label: 'Hours' },
];

/** @param {{ period: import('./period.js').Period }} props */
export function RangeChoice({ period }) {
  const days = { range: period.range, first: dayOf(period.start), last: dayOf(Math.min(period.end - 1, Date.now())) };
  return html`<${Ranges} ...${days} options=${RANGES} today=${dayOf(Date.now())} note="Both are included." />`;
}

/** Of whole days of UTC. @param {{ days: import('./period.js').Days }} props */
export function DaysChoice({ days }) {
  return html`<${Ranges} ...${days} options=${RANGES_OF_DAYS} today=${utcDayOf(Date.now())} note="Both are included. Days are those of UTC." />`;
}

/** @typedef {{ first: string, last: string, today: string, note: string }} OwnProps what is shown, and until when there are days */

/** @param {OwnProps & { range: import('./period.js').Range, options: typeof RANGES }} props */
function Ranges({ range, options, first, last, today, note }) {
  const [isChoosing, setChoosing] = useState(false);
  const choose = (/** @type {string} */ wanted) => (wanted === 'own' ? setChoosing(true) : setQuery({ range: wanted, from: '', to: '' }, { replace: false }));
  return html`<${Choice} label="Range" value=${range} options=${options} onChange=${choose} />
    ${isChoosing && html`<${OwnRange} first=${first} last=${last} today=${today} note=${note} onClose=${() => setChoosing(false)} />`}`;
}

/** @param {{ period: import('./period.js').Period }} props */
export function UnitChoice({ period }) {
  if (period.units.length < 2) return null;
  return html`<${Choice} label="Counted by" value=${period.unit} options=${UNITS} onChange=${(/** @type {string} */ interval) => setQuery({ interval }, { replace: false })} />`;
}

/** @param {OwnProps & { onClose: () => void }} props */
function OwnRange({ first, last, today, note, onClose }) {
  const [from, setFrom] = useState(first);
  const [to, setTo] = useState(last);
  const error = errorOf(from, to);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (error) return;
    setQuery({ range: 'own', from, to }, { replace: false });
    onClose();
  };
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" disabled=${Boolean(error)}>Show<//>`;
  return html`<${Dialog} title="Choose the days" onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <div class="own-range">
      <${Field} label="First day" type="date" max=${today} value=${from} onInput=${(/** @type {any} */ event) => setFrom(event.target.value)} />
      <${Field} label="Last day" type="date" max=${today} value=${to} error=${error} onInput=${(/** @type {any} */ event) => setTo(event.target.value)} />
    </div>
    <p class="small-print">${note}</p>
  <//>`;
}

/** @param {string} from @param {string} to */
function errorOf(from, to) {
  if (!from || !to) return 'Enter both days.';
  const days = daysBetween(from, to);
  if (days < 1) return 'The last day is before the first.';
  return days > MOST_DAYS ? `At most ${MOST_DAYS} days can be shown.` : undefined;
}
