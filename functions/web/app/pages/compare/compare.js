// Up to five links beside each other: a line for each in one chart, and their numbers.

import { html, useEffect, useMemo } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { href, route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { loadStyles } from '../../core/styles.js';
import { prepareCharts, TimeChart } from '../../parts/chart/chart.js';
import { AudienceChoice, audienceOf, intervalOf, linesOf, mergedLines, periodOf, RangeChoice, summedUp, UnitChoice, useLatest } from '../../parts/times/times.js';
import { Button } from '../../ui/button.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { LOOKS } from './looks.js';
import { readCompared } from './read.js';
import { ComparedTable } from './table.js';

/** @typedef {import('./read.js').Compared} Compared */

const CHART_HEIGHT = 320;

await loadStyles(new URL('./compare.css', import.meta.url));

export function ComparePage() {
  const { query } = useStore(route);
  const audience = audienceOf(query);
  const codes = codesOf(query);
  const time = ['range', 'interval', 'from', 'to'].map((name) => query.get(name) ?? '');
  const resource = useResource(codes.length > 0 ? `compared:${JSON.stringify([codes, time, audience])}` : null, () => readCompared(codes, query, audience));
  // Until others are read, those before them stay.
  const known = useLatest(resource.data);
  const data = useMemo(() => known && { ...known, links: known.links.filter(({ code }) => codes.includes(code)) }, [known, codes.join()]);
  const { part, focusLater } = useLaterFocus();
  useEffect(prepareCharts, []);

  if (codes.length === 0) {
    return html`<${Page} title="Compare"><${Empty} title="Choose links to compare" action=${html`<${Button} href=${href('links')}>All links<//>`}><p>Select up to five links in the list and click “Compare”.</p><//><//>`;
  }
  const { error } = resource;
  // Until the links are read, nobody knows whether they are younger than the range.
  const period = resource.data?.period ?? periodOf(query, Date.now());
  const remove = (/** @type {string} */ code) => {
    focusLater(`.compared tbody tr:nth-child(${Math.max(1, Math.min(codes.indexOf(code) + 1, codes.length - 1))}) .button`);
    setQuery({ codes: codes.filter((other) => other !== code).join() }, { replace: false });
  };
  return html`<${Page} title="Compare" actions=${html`<${RangeChoice} period=${period} /><${AudienceChoice} audience=${audience} />`}>
    ${error && html`<${Failure} what="Couldn’t compare the links." error=${error} retry=${resource.reload} />`}
    ${data ? html`<div ref=${part} class=${`stack ${resource.data ? '' : 'waiting'}`}><${Shown} compared=${data} remove=${remove} /></div>` : !error && html`<${Skeleton} height=${CHART_HEIGHT + 120} /><${Skeleton} rows=${codes.length} height=${56} />`}
  <//>`;
}

/** @param {URLSearchParams} query */
const codesOf = (query) => [...new Set((query.get('codes') ?? '').split(',').filter(Boolean))].slice(0, LOOKS.length);

/** @param {{ compared: Compared, remove: (code: string) => void }} props */
function Shown({ compared, remove }) {
  const { period, links } = compared;
  const form = route.get().query.has('table') ? 'table' : 'chart';
  const chart = useMemo(() => chartOf(compared), [compared]);
  return html`<${Card} title="Clicks over time">
      ${chart.series.length > 0 ? html`<${TimeChart} controls=${html`<${UnitChoice} ...${period} />`} ...${chart} view=${form} onView=${showAs} />` : html`<p class="muted">None of these links are available.</p>`}
    <//>
    <${ComparedTable} links=${links} period=${period} remove=${remove} />`;
}

/** @param {string} form */
const showAs = (form) => setQuery({ table: form === 'table' ? '1' : '' });

/** A line of each link, which begins with it. @param {Compared} compared @returns {import('../../parts/chart/chart.js').ChartProps} */
function chartOf({ period, links }) {
  const found = links.flatMap(({ code, look, link, answer }) => (link && answer ? [{ code, look, link, answer }] : []));
  const { times, clicks, running } = mergedLines(found.map(({ answer }) => linesOf(answer, Date.now())));
  const unit = intervalOf(period.unit);
  const step = unit === 'hour' ? 3_600 : 86_400;
  const series = found.map(({ code, look, link }, at) => {
    const born = Date.parse(link.created_at) / 1000;
    return { label: code, look, values: clicks[at].map((value, index) => (value === 0 && times[index] + step <= born ? null : value)) };
  });
  return summedUp({ label: `Clicks by ${period.unit}, ${period.name}`, times, series, unit, running, height: CHART_HEIGHT }, period.unit);
}
