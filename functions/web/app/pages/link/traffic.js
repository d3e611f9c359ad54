// Who follows the link: numbers, chart, panels, and single clicks, all of them of the clicks that the address asks for.

import { html, useCallback, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { prepareCharts, TimeChart } from '../../parts/chart/chart.js';
import { ABOUT_HUMAN_CLICKS, audienceOf, isOfHere, linesOf, nameOfLine, summedUp, UnitChoice, useLatest } from '../../parts/times/times.js';
import { PrintedNote } from '../../parts/print/print.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { Card } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { chosenIn, filterOf } from './asked.js';
import { LatestClicks } from './clicks.js';
import { LinkFigures } from './figures.js';
import { HealthCard } from './health.js';
import { Panels } from './panels.js';
import { keyOf, readLatest, readView, timeOf } from './read.js';
import { ViewBar } from './view-bar.js';
import { WeekCard } from './week.js';

/** @typedef {import('./read.js').View} View */
/** @typedef {import('./download-menu.js').Shown} Shown */
/** @typedef {import('./download-menu.js').ShownAnswer} ShownAnswer */

/** Sums are some seconds behind the single clicks. */
const SUMS_AFTER_MS = 6_000;
/** What single clicks tell takes much reading, of which each workspace has so much a minute. */
const FILTERED_EVERY_MS = 30_000;
const CHART_HEIGHT = 260;
const CLICKS_EVERY_MS = 5_000;

/** @type {Record<import('../../parts/times/audience.js').Audience, string>} */
const WHOSE = { people: 'Human clicks', bots: 'Bots and previews', all: 'All clicks' };

/** @param {{ link: import('./link.js').ShownLink, showQr: () => void, onNews: () => void }} props */
export function Traffic({ link, showQr, onNews }) {
  const { query } = useStore(route);
  const view = { code: link.short_code, since: link.created_at, query, audience: audienceOf(query), filter: filterOf(query) };
  const key = keyOf(view);
  const answer = useResource(key, () => readView(view));
  const clicks = useClicks(view, key);
  // Until another one is read, the answer before it stays.
  const known = useLatest(answer.data && { answer: answer.data, view });
  const shown = useMemo(() => known && { answer: known.answer, ...chartOfAnswer(known.answer, known.view.audience) }, [known?.answer]);
  const hear = useNews(() => [answer.reload, onNews].forEach((reload) => reload()), Object.keys(view.filter).length > 0 ? FILTERED_EVERY_MS : 0);

  const isUnused = link.total_clicks === 0 && !known?.answer.total_clicks && !clicks.data?.length && Object.keys(view.filter).length === 0;
  const failure = answer.error && html`<${Failure} what="Couldn’t load the statistics." error=${answer.error} retry=${answer.reload} />`;
  const isWaiting = known !== undefined && answer.data === undefined;
  // What is below the panels comes after them, so that it doesn't move.
  const isReady = isUnused || known !== undefined || answer.error !== undefined;
  const { dates } = known?.answer.period ?? timeOf(view);
  return html`
    <${PrintedNote} parts=${[dates, WHOSE[view.audience], ...chosenIn(view.filter)]} />
    ${!isUnused && html`<${ViewBar} view=${view} url=${link.short_url} period=${timeOf(view)} shown=${shown} answer=${answer.data} />`}
    ${failure}
    ${(known || !answer.error) &&
    html`<div class=${`traffic stack ${isWaiting ? 'waiting' : ''}`}>
      <${LinkFigures} imported=${link.imported_clicks} answer=${known?.answer} period=${known?.answer.period ?? timeOf(view)} audience=${known?.view.audience ?? view.audience} clicks=${clicks.data ?? (clicks.error ? null : undefined)} />
      ${isUnused
        ? html`<${FirstClick} link=${link} showQr=${showQr} />`
        : html`<${ChartCard} view=${view} shown=${shown} />
            ${known ? html`<${Panels} view=${view} answer=${known.answer} /><${WeekCard} week=${known.answer.week} tz=${isOfHere(known.answer) ? undefined : known.answer.tz} />` : html`<div class="panels">${[1, 2, 3].map(() => html`<${Skeleton} height=${240} />`)}</div>`}`}
    </div>`}
    ${isReady && link.health && html`<${HealthCard} health=${link.health} target=${link.target_id} />`}
    <div class=${isUnused || !isReady ? 'gone' : ''}><${LatestClicks} key=${key} resource=${clicks} onNews=${hear} /></div>`;
}

/**
 * @param {object} props
 * @param {View} props.view
 * @param {Shown} [props.shown] until other numbers are read, those before them
 */
function ChartCard({ view, shown }) {
  const form = view.query.has('table') ? 'table' : 'chart';
  useEffect(prepareCharts, []);
  return html`<${Card} title="Clicks over time" class="over-time">
    ${shown
      ? html`<${TimeChart} controls=${html`<${UnitChoice} ...${timeOf(view)} />`} ...${shown.chart} view=${form} onView=${showAs} />
          <p class="small-print">${noteOf(shown.answer)}</p>`
      : html`<${Skeleton} height=${CHART_HEIGHT + 24} />`}
  <//>`;
}

/** @param {string} form */
const showAs = (form) => setQuery({ table: form === 'table' ? '1' : '' });

/** What is drawn. @param {ShownAnswer} answer @param {import('../../parts/times/audience.js').Audience} audience @returns {Pick<Shown, 'chart' | 'running'>} */
export function chartOfAnswer(answer, audience) {
  const { period } = answer;
  const { times, clicks, humans, before, running } = linesOf(answer, Date.now());
  /** @type {import('../../parts/chart/chart.js').Series[]} */
  const series =
    audience === 'all'
      ? [{ label: 'Human clicks', look: 'area', values: humans }, { label: 'All clicks', look: 'line', values: clicks }]
      : [{ label: WHOSE[audience], look: 'area', values: clicks }];
  if (before && period.before) series.push({ label: nameOfLine(period.before), look: 'before', values: before });
  const zone = isOfHere(answer) ? undefined : answer.tz;
  const chart = { label: `Clicks by ${period.unit}, ${period.name}`, times, series, unit: answer.interval, zone, running, height: CHART_HEIGHT };
  return { chart: summedUp(chart, period.unit), running: running === undefined ? undefined : times[running] };
}

const utcDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

/** What one has to know about these numbers. @param {ShownAnswer} answer */
export function noteOf(answer) {
  const { period, from, to } = answer;
  const zone = isOfHere(answer) ? '' : 'Days and hours are in UTC. ';
  // Of so many clicks, the API tells whole days of UTC only.
  const isOther = Date.parse(from) !== period.start || Date.parse(to) !== period.end;
  const time = isOther ? `With this many clicks, these are whole UTC days, from ${utcDay.format(Date.parse(from))} to ${utcDay.format(Date.parse(to) - 1)}. ` : '';
  const before = period.before && !answer.before ? `Clicks of ${period.before.name} aren’t available. ` : '';
  return `${time}${zone}${before}${ABOUT_HUMAN_CLICKS}`;
}

/** @param {{ link: import('./link.js').ShownLink, showQr: () => void }} props */
function FirstClick({ link, showQr }) {
  if (link.status !== 'active') return html`<${Card}><${Empty} title="No clicks" /><//>`;
  const action = html`<div class="row"><${CopyButton} text=${link.short_url} kind="primary">Copy link<//><${Button} icon="qr" onClick=${showQr}>QR code<//></div>`;
  return html`<${Card}><${Empty} title="No clicks yet" action=${action}><p>Share the link. The first click appears here within seconds.</p><//><//>`;
}

/** The latest clicks, which are read once and then followed. @param {View} view @param {string} key */
function useClicks(view, key) {
  const latest = useRef({ key, known: /** @type {import('./read.js').Latest | undefined} */ (undefined) });
  const read = async () => {
    const known = await readLatest(view, latest.current.key === key ? latest.current.known : undefined);
    latest.current = { key, known };
    return known.clicks;
  };
  return useResource(`clicks:${key}`, read, { everyMs: CLICKS_EVERY_MS });
}

/**
 * Reads again when something has come, and once more when it is in the sums as well.
 * @param {() => void} reload
 * @param {number} leastMs how long to wait for the next time, if that takes much reading
 */
function useNews(reload, leastMs) {
  const latest = useRef(reload);
  latest.current = reload;
  const readAt = useRef(0);
  const [count, setCount] = useState(0);
  const waiting = useRef({ timer: 0, count: 0 });
  const plan = (/** @type {number} */ upTo) => {
    const timer = setTimeout(() => {
      waiting.current.timer = 0;
      readAt.current = Date.now();
      latest.current();
      // What has come meanwhile may not be in the sums.
      if (waiting.current.count !== upTo) plan(waiting.current.count);
    }, Math.max(SUMS_AFTER_MS, readAt.current + leastMs - Date.now()));
    waiting.current.timer = timer;
  };
  useEffect(() => {
    waiting.current.count = count;
    if (count === 0) return;
    if (leastMs === 0) latest.current();
    if (!waiting.current.timer) plan(count);
  }, [count]);
  useEffect(() => () => clearTimeout(waiting.current.timer), []);
  return useCallback(() => setCount((before) => before + 1), []);
}
