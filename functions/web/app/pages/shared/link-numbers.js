// The numbers of a link that is shared.

import { html } from '../../vendor/preact.js';
import { number, shortNumber } from '../../core/format.js';
import { ApiError } from '../../core/api.js';
import { useResource } from '../../core/resource.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Figure, Figures, TimeChart } from '../../parts/chart/chart.js';
import { KINDS, Panel, rowsOf } from '../../parts/panels/panels.js';
import { intervalOf, periodOf, queryOf, RangeChoice, UnitChoice, useLatest } from '../../parts/times/times.js';
import { Card } from '../../ui/page.js';
import { chartOfAnswer, noteOf } from '../link/traffic.js';
import { readNumbers } from './share.js';
import { WaitingNumbers } from './waiting.js';

/** What only members see. */
const HIDDEN = ['destination', 'campaign'];
const KINDS_OF_SHARE = KINDS.filter(({ name }) => !HIDDEN.includes(name));
/** The API computes an answer every five minutes. */
const EVERY_MS = 300_000;

/** @param {{ share: import('./share.js').Share, refused: (error: ApiError, retry: () => void) => unknown }} props */
export function LinkNumbers({ share, refused }) {
  const { query } = useStore(route);
  const period = periodOf(daysIn(query), Date.now());
  const key = `shared:${share.token.slice(-22)}:${JSON.stringify([period.from, period.to, period.unit])}`;
  const { data, error, reload } = useResource(key, async () => ({ ...(await readTime(share, period)), period }), { everyMs: EVERY_MS, freshMs: EVERY_MS });
  const answer = useLatest(data);
  const failure = error && refused(error, reload);
  if (!answer && error && error.status !== 429) return failure;
  const figure = (/** @type {'total_clicks' | 'human_clicks' | 'unique_visitors'} */ name) =>
    answer && { value: shortNumber(answer[name]), title: number(answer[name]), change: { now: answer[name], before: answer.before?.[name] ?? null }, than: answer.period.before?.name };
  return html`<div class="view-bar"><${RangeChoice} period=${period} /></div>
    ${failure}
    ${answer
      ? html`<div class=${`stack ${data ? '' : 'waiting'}`}>
          <${Figures} label="Statistics">
            <${Figure} label="Clicks" ...${figure('total_clicks')} />
            <${Figure} label="Human clicks" hint="Without bots and link previews." ...${figure('human_clicks')} />
            <${Figure} label="Unique visitors" hint="Estimated by IP address." ...${figure('unique_visitors')} />
          <//>
          <${Card} title="Clicks over time">
            <${TimeChart} controls=${html`<${UnitChoice} ...${period} />`} ...${chartOfAnswer(answer, 'all').chart} view=${query.has('table') ? 'table' : 'chart'} onView=${showAs} />
            <p class="small-print">${noteOf(answer)} Numbers are up to five minutes old.</p>
          <//>
          <div class="panels">${KINDS_OF_SHARE.map((kind) => html`<${Panel} key=${kind.name} kind=${kind} rows=${rowsOf(kind, answer)} total=${answer.total_clicks} />`)}</div>
        </div>`
      : !error && html`<${WaitingNumbers} />`}`;
}

/** A share shows whole days. @param {URLSearchParams} query */
function daysIn(query) {
  const days = new URLSearchParams(query);
  if (days.get('range') === '24h') days.set('range', 'today');
  return days;
}

/** @param {string} form */
const showAs = (form) => setQuery({ table: form === 'table' ? '1' : '' });

/** @param {import('./share.js').Share} share @param {import('../../parts/times/period.js').Period} period */
async function readTime(share, { from, to, unit }) {
  const { tz } = queryOf({ from, to }, 'all');
  const read = (/** @type {string} */ zone) => readNumbers(share, { from, to, tz: zone, interval: intervalOf(unit) });
  try {
    return await read(tz);
  } catch (error) {
    // A browser may call its zone by a name that the API doesn't know.
    if (!(error instanceof ApiError) || error.field !== 'tz') throw error;
    return read('UTC');
  }
}
