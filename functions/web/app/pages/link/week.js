// On which days and at which hours people come: a table whose cells are the darker, the more clicks they have.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { counted } from '../../core/format.js';
import { Card } from '../../ui/page.js';

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
/** A Monday, as weeks begin in the API. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY = 86_400_000;
const STEPS = 5;
const NARROW = '(max-width: 767px)';

/** `1.4K`: a cell has room for four letters. */
const briefFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 2 });

/** @param {'long' | 'short'} weekday */
function namesOfDays(weekday) {
  const format = new Intl.DateTimeFormat(undefined, { weekday, timeZone: 'UTC' });
  return Array.from({ length: 7 }, (_, day) => format.format(MONDAY + day * DAY));
}
const LONG_DAYS = namesOfDays('long');
const SHORT_DAYS = namesOfDays('short');

/** @param {{ week: number[][], tz?: string }} props `tz` is the zone, if it isn't the visitor's */
export function WeekCard({ week, tz }) {
  const isNarrow = useNarrow();
  const most = Math.max(1, ...week.flat());
  const cell = (/** @type {number} */ day, /** @type {number} */ hour) => {
    const count = week[day][hour];
    const name = `${LONG_DAYS[day]}, ${hour}:00: ${counted(count, 'click')}`;
    return html`<td key=${`${day}-${hour}`} class=${`shade-${Math.ceil((STEPS * count) / most)}`} title=${name}>${count > 0 ? briefFormat.format(count) : html`<span class="hidden">0</span>`}</td>`;
  };
  const dayHead = (/** @type {number} */ day, /** @type {'row' | 'col'} */ scope) => html`<th scope=${scope} key=${day}><span aria-hidden="true">${SHORT_DAYS[day]}</span><span class="hidden">${LONG_DAYS[day]}</span></th>`;
  const hourHead = (/** @type {number} */ hour, /** @type {'row' | 'col'} */ scope) => html`<th scope=${scope} key=${hour}>${hour}<span class="hidden">:00</span></th>`;
  const days = SHORT_DAYS.map((_, day) => day);
  return html`<${Card} title="Days and hours" actions=${tz && html`<span class="small-print">${tz}</span>`} class="week">
    <table class=${`week-table ${isNarrow ? 'upright' : ''}`}>
      <caption class="hidden">Clicks by weekday and hour</caption>
      <thead>
        <tr>
          <td></td>
          ${isNarrow ? days.map((day) => dayHead(day, 'col')) : HOURS.map((hour) => hourHead(hour, 'col'))}
        </tr>
      </thead>
      <tbody>
        ${isNarrow
          ? HOURS.map((hour) => html`<tr key=${hour}>${hourHead(hour, 'row')}${days.map((day) => cell(day, hour))}</tr>`)
          : days.map((day) => html`<tr key=${day}>${dayHead(day, 'row')}${HOURS.map((hour) => cell(day, hour))}</tr>`)}
      </tbody>
    </table>
  <//>`;
}

/** Whether the window is too narrow for 24 columns: then hours stand below each other. */
function useNarrow() {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const onChange = () => setNarrow(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}
