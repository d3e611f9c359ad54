// What is known of the clicks of all links, or of those with a tag: the time that the address is about, and what it has in common.

import { html, useEffect } from '../../vendor/preact.js';
import { fullTime, momentInText } from '../../core/format.js';
import { useOverview, useTags } from '../../parts/link-changes/counts.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { prepareCharts } from '../../parts/chart/chart.js';
import { PrintedNote } from '../../parts/print/print.js';
import { DaysChoice, useLatest } from '../../parts/times/times.js';
import { Failure, Notice, Skeleton } from '../../ui/states.js';
import { Visitors } from './breakdowns.js';
import { ClicksCard } from './clicks-card.js';
import { Down } from './down.js';
import { DownloadMenu } from './download-menu.js';
import { OverviewFigures, WaitingFigures } from './figures.js';
import { TagChoice, TagsCard } from './tags.js';
import { datesIn, queryOfBefore, queryOfView, viewOf } from './time.js';
import { TopLinks } from './top-links.js';

/** @typedef {import('./time.js').View} View */
/** @typedef {import('../../core/lists.js').Overview} Overview */
/** Answers, and what was asked: `past` is about the time before, where that is another question. @typedef {{ overview: Overview, view: View, past?: Overview, isPastUnknown?: boolean }} Known */

/** The API adds it up once a minute at most. */
const EVERY_MS = 60_000;
/** Of the cards until the numbers are there. */
const CHART_CARD_HEIGHT = 372;
const LIST_HEIGHT = 160;

/**
 * Reads what the address is about. Until another answer is read, the one before it stays.
 * @param {string} tag empty for all links
 */
export function useLook(tag) {
  const view = viewOf(useStore(route).query, tag, Date.now());
  const resource = useOverview({ query: queryOfView(view), everyMs: EVERY_MS });
  const before = queryOfBefore(view);
  const past = useOverview({ query: before, isWanted: before !== undefined });
  const known = useLatest(resource.data && { overview: resource.data, view, past: past.data, isPastUnknown: past.error !== undefined && !past.data });
  useEffect(prepareCharts, []);
  return { view, resource, known };
}

/** When it was added up. @param {{ known?: Known }} props */
export const AsOf = ({ known }) => known && html`<span class="small-print" title=${fullTime(known.overview.as_of)}>As of ${momentInText(known.overview.as_of)}</span>`;

/** @param {ReturnType<typeof useLook>} props */
export function Look({ view, resource, known }) {
  const tags = useTags();
  const { data, error, reload } = resource;
  const what = data ? 'This may be out of date.' : 'Couldn’t load the overview.';
  return html`<${PrintedNote} parts=${[datesIn(view)]} />
    <div class="view-bar">
      <${TagChoice} tag=${view.tag} tags=${tags} />
      <${DaysChoice} days=${view.days} />
      ${known && html`<${DownloadMenu} ...${known} />`}
    </div>
    ${error && html`<${Failure} what=${what} error=${error} retry=${reload} />`}
    ${known ? html`<div class=${`stack ${data ? '' : 'waiting'}`}><${Numbers} ...${known} tags=${tags} /></div><${Visitors} view=${view} />` : !error && html`<${WaitingFigures} /><${Skeleton} height=${CHART_CARD_HEIGHT} /><div class="overview-lists"><${Skeleton} height=${LIST_HEIGHT} /><${Skeleton} height=${LIST_HEIGHT} /></div>`}`;
}

/** @type {Record<string, string>} */
const PARTS = { links: 'links', clicks: 'clicks', down: 'monitored URLs' };

/** @param {Known & { tags: import('./tags.js').Tags }} props */
function Numbers({ tags, ...known }) {
  const { overview, view } = known;
  const { incomplete } = overview;
  return html`${incomplete.length > 0 &&
    html`<${Notice} tone="warn">This workspace is so large that only some of its ${incomplete.map((part) => PARTS[part] ?? part).join(' and ')} were counted. The numbers are too low.<//>`}
    <${OverviewFigures} ...${known} />
    <${ClicksCard} ...${known} />
    <div class="overview-lists">
      <${TopLinks} overview=${overview} view=${view} />
      <div class="stack">
        <${Down} targets=${overview.down} tag=${view.tag} />
        ${!view.tag && html`<${TagsCard} tags=${tags} />`}
      </div>
    </div>`;
}
