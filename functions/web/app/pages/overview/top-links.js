import { html } from '../../vendor/preact.js';
import { counted, number, shortNumber, withoutScheme } from '../../core/format.js';
import { href } from '../../core/router.js';
import { Card } from '../../ui/page.js';

/** The links that were followed most. @param {{ links: import('../../core/lists.js').Overview['top_links'] }} props */
export function TopLinks({ links }) {
  const most = Math.max(1, ...links.map(({ clicks }) => clicks));
  return html`<${Card} title="Top links" actions=${html`<span class="small-print">7 days</span>`}>
    ${links.length === 0
      ? html`<p class="muted">Nobody has followed a link in the last 7 days.</p>`
      : html`<ol class="bars top-links">${links.map((link) => html`<${TopLink} key=${link.short_code} link=${link} most=${most} />`)}</ol>`}
  <//>`;
}

/** @param {{ link: import('../../core/lists.js').Overview['top_links'][number], most: number }} props */
function TopLink({ link, most }) {
  return html`<li>
    <span class="bar" aria-hidden="true" style=${{ width: `${(100 * link.clicks) / most}%` }}></span>
    <span class="bar-name">
      <a href=${href(`links/${link.short_code}`)} title=${link.short_url}>${link.short_code}</a>
      <span class="muted" dir="auto">${link.title || withoutScheme(link.original_url)}</span>
    </span>
    <span class="bar-count" title=${`${counted(link.clicks, 'click')}, ${number(link.people)} by people`}>${shortNumber(link.clicks)}<span class="hidden"> ${link.clicks === 1 ? 'click' : 'clicks'}</span></span>
  </li>`;
}
