// What a link is, and what can be done with it.

import { html } from '../../vendor/preact.js';
import { counted, cutMiddle, day, fullTime, momentInText, withoutScheme } from '../../core/format.js';
import { safeUrl } from '../../core/address.js';
import { nameOf, useMembers, usedOf } from '../../core/lists.js';
import { href } from '../../core/router.js';
import { mayAct } from '../../core/session.js';
import { VisibilityFact } from '../../parts/visibility/visibility.js';
import { Button } from '../../ui/button.js';
import { Chip, Status } from '../../ui/chips.js';
import { CopyButton } from '../../ui/copy.js';
import { Facts } from '../../ui/facts.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { Notice, SkeletonText } from '../../ui/states.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {{ showQr: () => void, share: () => void, edit: () => void, changeDestination: () => void, showRules: () => void, changeStatistics: () => void, prepareEdit: () => void, toggle: () => void, archive: () => void, delete: () => void, purge: () => void, copyTo: () => void }} LinkActions */

/** @type {Record<Link['status'], { tone: 'good' | 'warn' | 'bad' | 'muted', text: string, title: string }>} */
const STATUSES = {
  active: { tone: 'good', text: 'Active', title: 'It leads to its destination.' },
  inactive: { tone: 'warn', text: 'Disabled', title: 'Visitors see that it’s disabled.' },
  scheduled: { tone: 'muted', text: 'Scheduled', title: 'Visitors see that it isn’t active yet.' },
  exhausted: { tone: 'warn', text: 'Limit reached', title: 'It has reached its click limit. Raise the limit to reactivate it.' },
  expired: { tone: 'warn', text: 'Expired', title: 'Visitors see that it has expired. Change its expiration date to reactivate it.' },
  suspended: { tone: 'warn', text: 'Suspended', title: 'Visitors see that it’s unavailable.' },
  deleted: { tone: 'muted', text: 'Deleted', title: 'Visitors see that it was deleted. Its statistics stay.' },
};
const WHY_SUSPENDED = {
  closed: 'Its workspace was closed. It works again a few minutes after the workspace is restored.',
  legal: 'The operator of this service suspended it for a legal reason, which visitors see. Only the operator can lift this.',
  abuse: 'The operator of this service suspended it because of reported or detected abuse. Only the operator can lift this.',
  other: 'The operator of this service suspended it. Only the operator can lift this.',
};
const TARGET_LENGTH = 96;

/** The short URL as the page's heading. @param {{ link: Link }} props */
export function LinkHeading({ link }) {
  const short = withoutScheme(link.short_url);
  const base = short.endsWith(link.short_code) ? short.slice(0, -link.short_code.length) : '';
  return html`<bdi class="heading-url" title=${link.short_url}><span>${base}</span><span>${link.short_code}</span></bdi>`;
}

/** @param {{ link: Link, actions: LinkActions, mayChange: boolean, hasRules: boolean }} props `hasRules` says whether it has rules or may get some */
export function LinkButtons({ link, actions, mayChange, hasRules }) {
  const canSwitch = mayChange && ['active', 'inactive', 'scheduled'].includes(link.status);
  const canEdit = mayChange && link.status !== 'deleted';
  const switchText = link.is_active ? 'Disable' : 'Enable';
  const items = [
    canSwitch && { label: switchText, icon: /** @type {const} */ ('power'), isNarrow: true, act: actions.toggle },
    canEdit && { label: link.archived ? 'Unarchive' : 'Archive', icon: /** @type {const} */ ('archive'), act: actions.archive },
    hasRules && { label: 'Rules and variants', icon: /** @type {const} */ ('split'), act: actions.showRules },
    { label: 'Duplicate', icon: /** @type {const} */ ('plus'), act: actions.copyTo },
    link.status !== 'deleted' && { label: 'Delete', icon: /** @type {const} */ ('trash'), isDanger: true, act: actions.delete },
    { label: 'Delete with statistics', icon: /** @type {const} */ ('trash'), isDanger: true, act: actions.purge },
  ];
  const isThere = link.status !== 'deleted';
  return html`<${CopyButton} text=${link.short_url} kind=${isThere ? 'primary' : undefined}>Copy<//>
    ${isThere && html`<${Button} icon="out" class="link-button" href=${safeUrl(link.short_url)} target="_blank" rel="noopener noreferrer" aria-label="Open">Open<//>
    <${Button} icon="qr" class="link-button" aria-label="QR code" onClick=${actions.showQr}>QR code<//>`}
    ${mayAct('member') && html`<${Button} icon="chart" class="link-button" aria-label="Share statistics" onClick=${actions.share}>Share<//>`}
    ${canSwitch && html`<${Button} icon="power" class="link-switch" onClick=${actions.toggle}>${switchText}<//>`}
    ${canEdit && html`<${Button} icon="edit" class="link-button" aria-label="Edit" onClick=${actions.edit} onPointerEnter=${actions.prepareEdit}>Edit<//>`}
    ${mayChange && html`<${Menu} label="More" class="button square" items=${items}><${Icon} name="more" /><//>`}`;
}

/** What is below the heading. @param {{ link: import('./link.js').ShownLink, actions: LinkActions, mayLeadElsewhere: boolean, mayWrite: boolean }} props */
export function LinkFacts({ link, actions, mayLeadElsewhere, mayWrite }) {
  // Who has given no name is known by an address, which members see.
  const members = useMembers({ isWanted: !link.created_by_name });
  const owner = members.data?.members.find((/** @type {any} */ member) => member.user_id === link.created_by);
  const { tone, text, title } = STATUSES[link.status];
  return html`<div class="about">
    ${link.title && html`<p class="about-title" dir="auto" title=${link.title}>${link.title}</p>`}
    <p class="about-target">
      <${Icon} name="right" /><span><${Target} url=${link.original_url} /></span>
      ${mayLeadElsewhere && html`<${Button} kind="quiet" class="compact" icon="edit" label="Change destination" onClick=${actions.changeDestination} />`}
    </p>
    ${link.fallback_url && html`<p class="about-target"><${Icon} name="right" /><span><span class="muted">otherwise</span> <${Target} url=${link.fallback_url} /></span></p>`}
    ${link.description && html`<p class="about-description" dir="auto">${link.description}</p>`}
    <ul class="about-meta">
      <li><${Status} tone=${tone} title=${title}>${text}<//></li>
      ${link.archived && link.status !== 'deleted' && html`<li><${Status} tone="muted" title="It’s hidden from lists but still works.">Archived<//></li>`}
      ${link.health?.status === 'down' && html`<li><${Status} tone="bad" title="The latest checks failed.">Destination down<//></li>`}
      ${link.created_by_name && html`<li>by <bdi>${link.created_by_name}</bdi></li>`}
      ${!link.created_by_name && !members.error && html`<li>by ${members.data ? html`<bdi>${nameOf(owner)}</bdi>` : html`<${SkeletonText} width=${72} />`}</li>`}
      <li title=${fullTime(link.created_at)}>created ${momentInText(link.created_at)}</li>
      ${link.valid_from && html`<li title=${fullTime(link.valid_from)}>${Date.parse(link.valid_from) > Date.now() ? 'starts' : 'started'} ${momentInText(link.valid_from)}</li>`}
      ${link.expires_at && html`<li title=${fullTime(link.expires_at)}>${link.status === 'expired' ? 'expired' : 'expires'} ${day(link.expires_at)}</li>`}
      ${Boolean(link.imported_clicks) && html`<li>${counted(link.imported_clicks ?? 0, 'imported click')}, not in the statistics</li>`}
      ${usedOf(link) && html`<li>${usedOf(link)}</li>`}
      ${link.is_protected && html`<li class="about-mark"><${Icon} name="lock" />password protected</li>`}
      ${link.forward_query && html`<li>forwards query parameters</li>`}
      ${link.has_rules && html`<li class="about-mark"><${Icon} name="split" /><button type="button" onClick=${actions.showRules}>redirect rules</button></li>`}
      ${link.tags.map((tag) => html`<li key=${tag}><${Chip} href=${href(['tags', tag])} label=${`Statistics for the tag ${tag}`}><bdi>${tag}</bdi><//></li>`)}
      ${link.external_id && html`<li>external ID <bdi>${link.external_id}</bdi></li>`}
    </ul>
    <${VisibilityFact} own=${link.statistics} onChange=${mayWrite && actions.changeStatistics} />
    ${link.preview && html`<${PreviewFacts} preview=${link.preview} />`}
    ${link.metadata &&
    html`<details class="about-notes small">
      <summary>Metadata</summary>
      <${Facts} rows=${Object.entries(link.metadata).map(([name, value]) => ({ name, value: html`<bdi>${value}</bdi>` }))} />
    </details>`}
  </div>
  ${link.status === 'suspended' && html`<${Notice} tone="warn"><p><strong>This link is suspended.</strong> ${link.suspended_for?.map((reason) => WHY_SUSPENDED[reason]).join(' ')}</p><//>`}`;
}

/** What chats show of it. @param {{ preview: import('../../core/lists.js').Preview }} props */
function PreviewFacts({ preview: { title, description, image } }) {
  const rows = [
    title && { name: 'Title', value: html`<bdi>${title}</bdi>` },
    description && { name: 'Description', value: html`<bdi>${description}</bdi>` },
    image && { name: 'Image', value: html`<${Target} url=${image} />` },
  ];
  return html`<details class="about-notes small">
    <summary>Social preview</summary>
    <${Facts} rows=${rows} />
  </details>`;
}

/** @param {{ url: string }} props */
function Target({ url }) {
  const safe = safeUrl(url);
  const text = cutMiddle(withoutScheme(url), TARGET_LENGTH);
  return safe ? html`<a href=${safe} rel="noopener noreferrer" target="_blank" title=${url}>${text}</a>` : html`<span title=${url}>${text}</span>`;
}
