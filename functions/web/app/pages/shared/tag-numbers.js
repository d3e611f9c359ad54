// The numbers of the links with a tag that is shared.

import { html } from '../../vendor/preact.js';
import { safeUrl } from '../../core/address.js';
import { counted, number, shortNumber } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Figure, Figures, TimeChart } from '../../parts/chart/chart.js';
import { KINDS, Panel, rowsOf } from '../../parts/panels/panels.js';
import { ABOUT_HUMAN_CLICKS, DaysChoice, UnitChoice, useLatest } from '../../parts/times/times.js';
import { Card } from '../../ui/page.js';
import { chartOf, timeIn, viewOf } from '../overview/time.js';
import { readBreakdownsOf, readOverview } from './share.js';
import { WaitingNumbers } from './waiting.js';

/** What only members see, or what several links don't have in common. */
const HIDDEN_OF_TAGS = ['destination', 'campaign'];
const KINDS_OF_TAG = KINDS.filter(({ name }) => !HIDDEN_OF_TAGS.includes(name));
/** The API computes an answer every five minutes. */
const TAG_EVERY_MS = 300_000;

/** @param {{ share: import('./share.js').Share, refused: (error: import('../../core/api.js').ApiError, retry: () => void) => unknown }} props */
export function TagNumbers({ share, refused }) {
  const { query } = useStore(route);
  const view = viewOf(query, share.name, Date.now());
  const days = { from: view.days.first, to: view.days.last };
  const key = `shared-tag:${share.token.slice(-22)}:${JSON.stringify(days)}`;
  const read = async () => {
    const [overview, breakdowns] = await Promise.all([readOverview(share, days), readBreakdownsOf(share, days)]);
    return { overview, breakdowns, view };
  };
  const { data, error, reload } = useResource(key, read, { everyMs: TAG_EVERY_MS, freshMs: TAG_EVERY_MS });
  const known = useLatest(data);
  const failure = error && refused(error, reload);
  if (!known && error && error.status !== 429) return failure;
  return html`<div class="view-bar"><${DaysChoice} days=${view.days} /></div>
    ${failure}
    ${known ? html`<div class=${`stack ${data ? '' : 'waiting'}`}><${Shown} ...${known} units=${view} isTable=${query.has('table')} /></div>` : !error && html`<${WaitingNumbers} />`}`;
}

/** @param {{ overview: import('../../core/lists.js').Overview, breakdowns: import('../../parts/panels/kinds.js').Breakdowns, view: import('../overview/time.js').View, units: import('../overview/time.js').View, isTable: boolean }} props */
function Shown({ overview, breakdowns, view, units, isTable }) {
  const { sums } = timeIn(overview, view);
  const drawn = { ...view, unit: units.unit };
  return html`<${Figures} label="Statistics">
      <${Figure} label="Clicks" value=${shortNumber(sums.total_clicks)} title=${number(sums.total_clicks)} />
      <${Figure} label="Human clicks" hint="Without bots and link previews." value=${shortNumber(sums.human_clicks)} title=${number(sums.human_clicks)} />
      <${Figure} label="Links" value=${shortNumber(overview.links.total)} title=${number(overview.links.total)} />
    <//>
    <${Card} title="Clicks over time">
      <${TimeChart} controls=${html`<${UnitChoice} unit=${units.unit} units=${units.units} />`} ...${chartOf(overview, drawn)} view=${isTable ? 'table' : 'chart'} onView=${showTableAs} />
      <p class="small-print">Days are in UTC. ${ABOUT_HUMAN_CLICKS} Numbers are up to five minutes old.</p>
    <//>
    <${TopSharedLinks} links=${overview.top_links} />
    <div class="panels">${KINDS_OF_TAG.map((kind) => html`<${Panel} key=${kind.name} kind=${kind} rows=${rowsOf(kind, breakdowns)} total=${breakdowns.total_clicks} />`)}</div>`;
}

/** @param {string} form */
const showTableAs = (form) => setQuery({ table: form === 'table' ? '1' : '' });

/** @param {{ links: import('../../core/lists.js').Overview['top_links'] }} props */
function TopSharedLinks({ links }) {
  const most = Math.max(1, ...links.map(({ total_clicks }) => total_clicks));
  return html`<${Card} title="Top links" class="top-links">
    ${links.length === 0
      ? html`<p class="muted">No clicks in this period.</p>`
      : html`<ol class="bars">${links.map(
          (link) => html`<li key=${link.short_code}>
            <span class="bar" aria-hidden="true" style=${{ width: `${(100 * link.total_clicks) / most}%` }}></span>
            <span class="bar-name"><a href=${safeUrl(link.short_url)} target="_blank" rel="noopener noreferrer" title=${link.short_url}>${link.short_code}</a> <span class="muted" dir="auto">${link.title}</span></span>
            <span class="bar-count" title=${counted(link.total_clicks, 'click')}>${shortNumber(link.total_clicks)}<span class="hidden"> ${link.total_clicks === 1 ? 'click' : 'clicks'}</span></span>
          </li>`,
        )}</ol>`}
  <//>`;
}
