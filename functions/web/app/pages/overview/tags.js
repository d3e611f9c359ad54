// The tags that links have, each of which leads to its page.

import { html } from '../../vendor/preact.js';
import { isSame } from '../../core/folding.js';
import { counted, number } from '../../core/format.js';
import { href, route } from '../../core/router.js';
import { Chip } from '../../ui/chips.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { Card } from '../../ui/page.js';
import { keptOf } from './time.js';

const SHOWN = 12;
const OFFERED = 50;

/** The page of a tag, about the same time and audience as the present one. @param {string} tag */
const pageOfTag = (tag) => href(['tags', tag], keptOf(route.get().query));

/** @typedef {import('../../core/lists.js').TagCount[]} Tags the most used first */

/** Which links the page is about. @param {{ tag: string, tags: Tags }} props an empty tag for all links */
export function TagChoice({ tag, tags }) {
  if (tags.length === 0 && !tag) return null;
  const isShown = (/** @type {string} */ other) => isSame(other, tag);
  const items = [
    { label: 'All links', key: 'all', isCurrent: tag === '', href: href('overview', keptOf(route.get().query)) },
    ...tags.slice(0, OFFERED).map(({ tag: other, links }) => ({ label: other, key: `tag ${other}`, note: number(links), isCurrent: isShown(other), href: pageOfTag(other) })),
    ...(tags.length > OFFERED ? [{ label: 'All tags', key: 'tags', isCurrent: false, href: href('tags') }] : []),
  ];
  return html`<${Menu} class="button tag-choice" align="start" items=${items}>
    <${Icon} name="tag" /><span class="hidden">Links: </span><bdi class="tag-chosen">${tag || 'All links'}</bdi><${Icon} name="down" />
  <//>`;
}

/** Those that most links have. @param {{ tags: Tags }} props */
export function TagsCard({ tags }) {
  if (tags.length === 0) return null;
  return html`<${Card} title="Tags" actions=${tags.length > SHOWN && html`<a href=${href('tags')}>All tags</a>`}><${TagChips} tags=${tags.slice(0, SHOWN)} /><//>`;
}

/** @param {{ tags: Tags }} props */
const TagChips = ({ tags }) => html`<ul class="chips tag-chips">
  ${tags.map(({ tag, links }) => html`<li key=${tag}><${Chip} href=${pageOfTag(tag)} title=${tag} label=${`${tag}, ${counted(links, 'link')}`}><bdi>${tag}</bdi> <span class="muted">${number(links)}</span><//></li>`)}
</ul>`;
