// The numbers on top of the page, each with what has changed.

import { html } from '../../vendor/preact.js';
import { ago, fullTime, moment, number, shortNumber } from '../../core/format.js';
import { Figure, Figures } from '../../ui/figures.js';

/** Few have a digit behind the point. @param {number} value */
const average = (value) => (value < 10 ? number(Math.round(value * 10) / 10) : number(Math.round(value)));

/**
 * @param {object} props
 * @param {import('./numbers.js').Numbers | undefined} props.numbers
 * @param {import('./period.js').Period | undefined} props.period
 * @param {import('./read.js').Statistics | undefined} props.statistics
 */
export function LinkFigures({ numbers, period, statistics }) {
  const name = period?.name ?? '';
  // Beside the same number it would say nothing.
  const ever = (/** @type {number | undefined} */ count, /** @type {number | undefined} */ now) => (count && count !== now ? `${number(count)} ever` : undefined);
  const last = statistics?.last_click_at;
  const perDay = numbers?.visitorsADay;
  return html`<${Figures} label="Numbers">
    <${Figure} label="Clicks" value=${numbers && shortNumber(numbers.clicks.now)} title=${numbers && number(numbers.clicks.now)} change=${numbers?.clicks} than=${name} note=${ever(statistics?.total_clicks, numbers?.clicks.now)} />
    <${Figure}
      label="People"
      hint="Visits by humans, without bots and link previews."
      value=${numbers && (numbers.people ? shortNumber(numbers.people.now) : '–')}
      title=${numbers && (numbers.people ? number(numbers.people.now) : 'With more than 100 clicks, people are counted by whole days.')}
      change=${numbers?.people ?? undefined}
      than=${name}
      note=${ever(statistics?.human_clicks, numbers?.people?.now)}
    />
    <${Figure}
      label="Unique visitors, ever"
      hint="How many addresses people came from."
      value=${statistics && shortNumber(statistics.unique_visitors)}
      title=${statistics && number(statistics.unique_visitors)}
      change=${perDay ?? undefined}
      than=${name}
      note=${perDay && perDay.now >= 0.05 ? `${average(perDay.now)} a day` : undefined}
    />
    <${Figure} label="Last click" value=${statistics && (last ? ago(last) : 'none')} isText title=${last ? fullTime(last) : undefined} note=${last ? moment(last) : undefined} />
  <//>`;
}
