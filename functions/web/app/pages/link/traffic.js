// Who follows the link: numbers, chart, panels, and single clicks.

import { html, useCallback, useEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { prepareCharts, TimeChart } from '../../parts/chart/chart.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy.js';
import { Card } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { LatestClicks } from './clicks.js';
import { LinkFigures } from './figures.js';
import { HealthCard } from './health.js';
import { numbersOf, panelsOf } from './numbers.js';
import { Panels } from './panels.js';
import { periodOf } from './period.js';
import { RangeChoice } from './range.js';
import { readLatest, readPeriod, readStatistics } from './read.js';

/** Sums are some seconds behind the single clicks. */
const SUMS_AFTER_MS = 6_000;
const CHART_HEIGHT = 260;
const CLICKS_EVERY_MS = 5_000;

/** @param {{ link: import('./link.js').ShownLink, showQr: () => void, onNews: () => void }} props */
export function Traffic({ link, showQr, onNews }) {
  const code = link.short_code;
  const { query } = useStore(route);
  const wanted = ['range', 'unit', 'from', 'to'].map((name) => query.get(name) ?? '').join(':');
  const statistics = useResource(`statistics:${code}`, () => readStatistics(code));
  const readings = useResource(`readings:${code}:${wanted}`, () => readPeriod(code, query));
  const clicks = useClicks(code);
  // Without the single clicks, the numbers come from the sums alone.
  const known = useLatest(clicks.isLoading ? undefined : readings.data);
  const hasBefore = known !== undefined && Date.parse(link.created_at) < known.period.from;
  const numbers = useMemo(() => known && numbersOf(known, clicks.data, hasBefore), [known, clicks.data, hasBefore]);
  const hear = useNews(() => [statistics.reload, readings.reload, onNews].forEach((reload) => reload()));

  const period = periodOf(query, Date.now());
  const isUnused = statistics.data?.total_clicks === 0 && numbers?.clicks.now === 0;
  const isDown = statistics.error && readings.error && !statistics.data && !readings.data;
  if (isDown) return html`<${Failure} what="The numbers can’t be read." error=${readings.error} retry=${() => void Promise.all([statistics.reload(), readings.reload()])} />`;
  // What is below the panels comes after them, so that it doesn't move.
  const isReady = isUnused || (numbers && statistics.data) || statistics.error || readings.error;
  return html`<${LinkFigures} numbers=${numbers} period=${known?.period} statistics=${statistics.data} />
    ${statistics.error && html`<${Failure} what="Some numbers can’t be read." error=${statistics.error} retry=${statistics.reload} />`}
    ${isUnused
      ? html`<${FirstClick} link=${link} showQr=${showQr} />`
      : html`<${ChartCard} period=${period} readings=${readings} numbers=${numbers} shown=${known?.period} />
          ${numbers && known && statistics.data && html`<${Panels} panels=${panelsOf(known, numbers, statistics.data)} name=${known.period.name} />`}`}
    ${!isReady && html`<div class="panels">${[1, 2, 3].map(() => html`<${Skeleton} height=${240} />`)}</div>`}
    ${isReady && link.health && html`<${HealthCard} health=${link.health} target=${link.target_id} />`}
    <div class=${isUnused || !isReady ? 'gone' : ''}><${LatestClicks} resource=${clicks} onNews=${hear} /></div>`;
}

/**
 * @param {object} props
 * @param {import('./period.js').Period} props.period what the address says
 * @param {import('../../core/resource.js').Resource<import('./read.js').Readings>} props.readings
 * @param {import('./numbers.js').Numbers | undefined} props.numbers
 * @param {import('./period.js').Period | undefined} props.shown the period of these numbers: until others are read, the one before
 */
function ChartCard({ period, readings, numbers, shown }) {
  const view = route.get().query.has('table') ? 'table' : 'chart';
  useEffect(prepareCharts, []);
  return html`<${Card} title="Clicks over time" actions=${html`<${RangeChoice} period=${period} />`} class=${`traffic ${readings.isLoading ? 'waiting' : ''}`}>
    ${readings.error && html`<${Failure} what="The clicks of this time can’t be read." error=${readings.error} retry=${readings.reload} />`}
    ${numbers && shown
      ? html`<${TimeChart} label=${`Clicks by ${shown.unit}, ${shown.name}`} times=${numbers.times} series=${numbers.series} unit=${shown.unit} height=${CHART_HEIGHT} view=${view} onView=${showAs} />
          <p class="small-print">${noteOf(shown)}</p>`
      : !readings.error && html`<${Skeleton} height=${CHART_HEIGHT + 24} />`}
  <//>`;
}

/** @param {string} view */
const showAs = (view) => setQuery({ table: view === 'table' ? '1' : '' });

/** What one has to know about these numbers. @param {import('./period.js').Period} period */
const noteOf = ({ unit }) => `${unit === 'day' ? 'Days are those of UTC. ' : ''}People are visits by humans, without bots and link previews.`;

/** @param {{ link: import('./link.js').ShownLink, showQr: () => void }} props */
function FirstClick({ link, showQr }) {
  if (link.status !== 'active') return html`<${Card}><${Empty} title="Nobody has followed this link." /><//>`;
  const action = html`<div class="row"><${CopyButton} text=${link.short_url} kind="primary">Copy the link<//><${Button} icon="qr" onClick=${showQr}>QR code<//></div>`;
  return html`<${Card}><${Empty} title="Nobody has followed this link yet." action=${action}><p>Share it. The first click appears here by itself, within seconds.</p><//><//>`;
}

/** The latest clicks, which are read once and then followed. @param {string} code */
function useClicks(code) {
  const latest = useRef(/** @type {import('./read.js').Click[] | undefined} */ (undefined));
  const read = async () => (latest.current = await readLatest(code, latest.current));
  return useResource(`clicks:${code}`, read, { everyMs: CLICKS_EVERY_MS });
}

/**
 * What was there last, while something else is read.
 * @template T
 * @param {T | undefined} value
 * @returns {T | undefined}
 */
function useLatest(value) {
  const latest = useRef(value);
  if (value !== undefined) latest.current = value;
  return latest.current;
}

/** Reads again when something has come, and once more when it is in the sums as well. @param {() => void} reload */
function useNews(reload) {
  const latest = useRef(reload);
  latest.current = reload;
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (count === 0) return undefined;
    latest.current();
    const timer = setTimeout(() => latest.current(), SUMS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [count]);
  return useCallback(() => setCount((before) => before + 1), []);
}
