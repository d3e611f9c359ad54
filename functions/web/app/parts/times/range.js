// What the numbers are about: the range, its own first and last day, and what is counted by. Each view can be gone back to.

import { html, useState } from '../../vendor/preact.js';
import { setQuery } from '../../core/router.js';
import { Choice } from '../../ui/chips.js';
import { Field } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { Popover } from '../dates/popover.js';
import { datesOf, dayOf, daysBetween, MOST_DAYS, utcDayOf } from './period.js';
import { PRESETS } from './presets.js';

const RANGES = [
  { value: '24h', label: '24 h' },
  { value: '7d', label: '7 d' },
  { value: '30d', label: '30 d' },
  { value: '12m', label: '12 mo' },
];
const RANGES_OF_DAYS = RANGES.filter(({ value }) => value !== '24h');

/** @type {Record<import('./period.js').PeriodUnit, string>} */
const UNITS = { day: 'Days', hour: 'Hours', week: 'Weeks', month: 'Months' };

/** @param {{ period: import('./period.js').Period }} props */
export function RangeChoice({ period }) {
  const days = { range: period.range, first: dayOf(period.start), last: dayOf(Math.min(period.end - 1, Date.now())) };
  return html`<${Ranges} ...${days} dates=${period.dates} options=${RANGES} today=${dayOf(Date.now())} note="Both are included." />`;
}

/** Of whole days of UTC. @param {{ days: import('./period.js').Days }} props */
export function DaysChoice({ days }) {
  const dates = `${datesOf(days.first, days.last)} UTC`;
  return html`<${Ranges} ...${days} dates=${dates} options=${RANGES_OF_DAYS} today=${utcDayOf(Date.now())} note="Both are included. Days are in UTC." />`;
}

/** @typedef {{ first: string, last: string, today: string, note: string }} OwnProps what is shown, and until when there are days */

/** @param {OwnProps & { range: import('./period.js').Range, dates: string, options: typeof RANGES }} props */
function Ranges({ range, dates, options, first, last, today, note }) {
  const [isChoosing, setChoosing] = useState(false);
  const choose = (/** @type {string} */ wanted) => setQuery({ range: wanted, from: '', to: '' }, { replace: false });
  const items = [
    ...PRESETS.map(({ value, ...preset }) => ({ ...preset, isCurrent: value === range, act: () => choose(value) })),
    { label: 'Custom range', isCurrent: range === 'own', act: () => setChoosing(true) },
  ];
  return html`<${Choice} label="Range" value=${range} options=${options} onChange=${choose} />
    <div class="menu">
      <${Menu} class="button range-dates" align="start" items=${items}><span class="hidden">Days: </span>${dates}<${Icon} name="down" /><//>
      ${isChoosing && html`<${OwnRange} first=${first} last=${last} today=${today} note=${note} onClose=${() => setChoosing(false)} />`}
    </div>`;
}

/** @param {{ unit: import('./period.js').PeriodUnit, units: import('./period.js').PeriodUnit[] }} props */
export function UnitChoice({ unit, units }) {
  if (units.length < 2) return null;
  const items = units.map((value) => ({ label: UNITS[value], isCurrent: value === unit, act: () => setQuery({ interval: value }, { replace: false }) }));
  return html`<${Menu} class="button compact" items=${items}><span class="hidden">Group by: </span>${UNITS[unit]}<${Icon} name="down" /><//>`;
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
  return html`<${Popover} title="Custom range" isDisabled=${Boolean(error)} onSubmit=${submit} onClose=${onClose}>
    <${Field} label="Start date" type="date" max=${today} value=${from} onInput=${(/** @type {any} */ event) => setFrom(event.target.value)} />
    <${Field} label="End date" type="date" max=${today} value=${to} error=${error} onInput=${(/** @type {any} */ event) => setTo(event.target.value)} />
    <p class="small-print">${note}</p>
  <//>`;
}

/** @param {string} from @param {string} to */
function errorOf(from, to) {
  if (!from || !to) return 'Enter both dates.';
  const days = daysBetween(from, to);
  if (days < 1) return 'The end date is before the start date.';
  return days > MOST_DAYS ? `Choose at most ${MOST_DAYS} days.` : undefined;
}
