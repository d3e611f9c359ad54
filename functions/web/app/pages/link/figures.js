// The numbers on top of the page, each with what has changed.

import { html } from '../../vendor/preact.js';
import { ago, fullTime, moment, number, shortNumber } from '../../core/format.js';
import { Figure, Figures } from '../../parts/chart/chart.js';

/** What is left out. @type {Record<import('../../parts/times/audience.js').Audience, string | undefined>} */
const ONLY = { people: 'human clicks only', bots: 'bots and link previews only', all: undefined };

/**
 * @param {object} props
 * @param {import('../../parts/times/answer.js').Answer} [props.answer]
 * @param {import('../../parts/times/period.js').Period} props.period
 * @param {import('../../parts/times/audience.js').Audience} props.audience whose clicks the answer has
 * @param {number | null} [props.imported] how many clicks the link brought from elsewhere, which no statistics have
 * @param {import('./read.js').Click[] | null} [props.clicks] the latest ones; `null` if nobody knows
 */
export function LinkFigures({ answer, period, audience, imported, clicks }) {
  // A link that is younger than the time has no time before.
  const before = period.before && answer?.before;
  const figure = (/** @type {'total_clicks' | 'human_clicks' | 'unique_visitors'} */ name) => ({
    value: answer && shortNumber(answer[name]),
    title: answer && number(answer[name]),
    change: answer && { now: answer[name], before: before?.[name] ?? null },
    than: period.before?.name,
  });
  const last = clicks?.[0]?.clicked_at;
  return html`<${Figures} label="Statistics">
    <${Figure} label="Clicks" ...${figure('total_clicks')} note=${[ONLY[audience], imported && `+\u00a0${shortNumber(imported)} imported`].filter(Boolean).join(' · ')} />
    ${audience === 'all' && html`<${Figure} label="Human clicks" hint="Without bots and link previews." ...${figure('human_clicks')} />`}
    ${audience !== 'bots' && html`<${Figure} label="Unique visitors" hint="Estimated by IP address." ...${figure('unique_visitors')} />`}
    <${Figure} label="Last click" value=${clicks === null ? '–' : clicks && (last ? ago(last) : 'none')} isText title=${last ? fullTime(last) : undefined} note=${last ? moment(last) : clicks && !last ? 'in this period' : undefined} />
  <//>`;
}
