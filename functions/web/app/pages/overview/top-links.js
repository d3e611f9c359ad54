import { html } from '../../vendor/preact.js';
import { counted, number, shortNumber, withoutScheme } from '../../core/format.js';
import { useOverview } from '../../parts/link-changes/counts.js';
import { href } from '../../core/router.js';
import { Card } from '../../ui/page.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { hasTopLinks, timeQueryOf } from './time.js';

/** @typedef {import('../../core/lists.js').Overview['top_links']} Links */

const SHOWN_LINKS = 5;
const BAR_HEIGHT = 28;

/** The links that were followed most. @param {import('./look.js').Known} props */
export function TopLinks({ overview, view }) {
  const isThere = hasTopLinks(overview, view);
  // Not only once they are seen: whoever goes by keyboard would be past them when they come.
  const { data, error, reload } = useOverview({ query: timeQueryOf(view), isWanted: !isThere });
  const links = (isThere ? overview : data)?.top_links;
  return html`<${Card} title="Top links" actions=${html`<span class="small-print">${view.days.name}</span>`} class="top-links">
    ${links ? html`<${Ranking} links=${links} />` : error ? html`<${Failure} what="Couldn’t load the top links." error=${error} retry=${reload} />` : html`<${Skeleton} rows=${SHOWN_LINKS} height=${BAR_HEIGHT} />`}
  <//>`;
}

/** @param {{ links: Links }} props */
function Ranking({ links }) {
  const most = Math.max(1, ...links.map(({ total_clicks }) => total_clicks));
  if (links.length === 0) return html`<p class="muted">No clicks in this period.</p>`;
  return html`<ol class="bars">${links.map((link) => html`<${TopLink} key=${link.short_code} link=${link} most=${most} />`)}</ol>`;
}

/** @param {{ link: Links[number], most: number }} props */
function TopLink({ link, most }) {
  const { total_clicks: clicks, human_clicks } = link;
  return html`<li>
    <span class="bar" aria-hidden="true" style=${{ width: `${(100 * clicks) / most}%` }}></span>
    <span class="bar-name">
      <a href=${href(`links/${link.short_code}`)} title=${link.short_url}>${link.short_code}</a>
      <span class="muted" dir="auto">${link.title || withoutScheme(link.original_url)}</span>
    </span>
    <span class="bar-count" title=${`${counted(clicks, 'click')}, ${number(human_clicks)} human`}>${shortNumber(clicks)}<span class="hidden"> ${clicks === 1 ? 'click' : 'clicks'}</span></span>
  </li>`;
}
