import { html } from '../../vendor/preact.js';
import { safeUrl } from '../../core/address.js';
import { age, counted, fullTime, hostOf, momentInText, number, shortNumber, withoutScheme } from '../../core/format.js';
import { usedOf } from '../../core/lists.js';
import { rem } from '../../core/rem.js';
import { href, navigate } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Chip, Status } from '../../ui/chips.js';
import { CopyButton } from '../../ui/copy.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';

/** @typedef {import('../../core/lists.js').Link} Link */

export const ROW_HEIGHT = rem(3.5);
const SHOWN_TAGS = 2;
// More never fits, and laying it out takes time.
const SHOWN_TITLE = 200;
const KEPT_END = 12;

/** @type {Record<string, { word: string, tone: 'muted' | 'warn' | 'bad' }>} */
export const STATUS_WORDS = {
  inactive: { word: 'Disabled', tone: 'muted' },
  scheduled: { word: 'Scheduled', tone: 'muted' },
  exhausted: { word: 'Limit reached', tone: 'warn' },
  expired: { word: 'Expired', tone: 'warn' },
  suspended: { word: 'Suspended', tone: 'warn' },
  deleted: { word: 'Deleted', tone: 'bad' },
};

/** The link whose row was used last, to which "back" returns. */
export const opened = { code: '' };

/** Members change what is theirs, admins everything. @param {Link} link */
export const mayChange = (link) => mayAct('admin') || (mayAct('member') && link.created_by === session.get().me?.user_id);

/**
 * @typedef {object} RowActions
 * @property {(link: Link) => void} edit
 * @property {(link: Link) => void} showQr
 * @property {(link: Link) => void} toggle switches it on or off
 * @property {(link: Link) => void} archive puts it away, or brings it back
 * @property {(link: Link) => void} delete
 * @property {(link: Link) => void} purge
 * @property {(tag: string) => void} filterByTag
 * @property {(index: number, isRange: boolean) => void} select
 * @property {() => void} prepareEdit
 */

/**
 * @param {{ link: Link, index: number, count: number, isSelected: boolean, isSelecting: boolean, isNew: boolean, isDown: boolean, isPutAway: boolean, actions: RowActions }} props
 */
export function LinkRow({ link, index, count, isSelected, isSelecting, isNew, isDown, isPutAway, actions }) {
  const { short_code: code, short_url: url } = link;
  const page = href(`links/${code}`);
  const classes = `link-row ${isSelected ? 'selected' : ''} ${isSelecting ? 'selecting' : ''} ${isNew ? 'fresh' : ''} ${link.status === 'active' ? '' : 'idle'}`;
  const onClick = (/** @type {any} */ event) => {
    opened.code = code;
    if (!event.target.closest('a, button, input, label, [role=menu]') && !getSelection()?.toString()) navigate(page);
  };
  return html`<li
    class=${classes}
    style=${{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
    aria-posinset=${index + 1}
    aria-setsize=${count}
    data-index=${index}
    onClick=${onClick}
  >
    <${Mark} link=${link} index=${index} isSelected=${isSelected} select=${actions.select} />
    <div class="link-main">
      <div class="link-line">
        <a class="link-title" dir=${link.title ? 'auto' : 'ltr'} href=${page} title=${link.title ? `${link.title}\n${link.original_url}` : link.original_url}>${link.title?.slice(0, SHOWN_TITLE) || pathOf(link.original_url)}</a>
        ${STATUS_WORDS[link.status] && html`<${Status} tone=${STATUS_WORDS[link.status].tone}>${STATUS_WORDS[link.status].word}<//>`}
        <${Note} text=${noteOf(link)} />
        ${isPutAway && html`<${Status} tone="muted">Archived<//>`}
        ${link.watch && link.status !== 'deleted' && html`<${Health} isDown=${isDown} />`}
        ${link.is_protected && html`<span class="locked" title="Password protected"><${Icon} name="lock" /><span class="hidden">Password protected</span></span>`}
      </div>
      <p class="link-where"><${ShortUrl} url=${url} code=${code} /><span class="hidden"> leads to </span><span class="link-arrow" aria-hidden="true">→</span><${Target} url=${link.original_url} /></p>
    </div>
    <${Tags} tags=${link.tags} filterByTag=${actions.filterByTag} />
    <span class="link-clicks" title=${`${link.total_clicks === null ? 'Unavailable' : counted(link.total_clicks, 'click')}${link.imported_clicks ? ` + ${number(link.imported_clicks)} imported` : ''}`}>
      ${link.total_clicks === null ? '–' : shortNumber(link.total_clicks)}<span class="unit"> ${link.total_clicks === 1 ? 'click' : 'clicks'}</span>
    </span>
    <time class="link-age" datetime=${link.created_at} title=${fullTime(link.created_at)}>${age(link.created_at)}</time>
    <${Actions} link=${link} actions=${actions} />
  </li>`;
}

/** When it begins, or how much of its limit is used. @param {Link} link */
const noteOf = (link) => (link.status === 'scheduled' && link.valid_from ? `starts ${momentInText(link.valid_from)}` : link.status === 'deleted' ? '' : usedOf(link));

/** @param {{ text: string }} props */
const Note = ({ text }) => text && html`<span class="link-note" title=${text}>${text}</span>`;

/** @param {{ link: Link, index: number, isSelected: boolean, select: RowActions['select'] }} props */
function Mark({ link, index, isSelected, select }) {
  const host = hostOf(link.original_url);
  const onClick = (/** @type {any} */ event) => select(index, event.shiftKey);
  return html`<label class="link-mark" style=${{ '--hue': String(hueOf(host)) }}>
    <span class="letter" aria-hidden="true">${letterOf(link.original_url)}</span>
    <input type="checkbox" checked=${isSelected} aria-label=${`Select ${link.short_code}`} onClick=${onClick} />
  </label>`;
}

/** The first of a host as it is written, also where it isn't Latin. @param {string} url */
const letterOf = (url) => ([...withoutScheme(url).replace(/^[^/?#]*@/, '').replace(/^www\./i, '')][0] ?? '?').toUpperCase();

/** A colour that a host always has. @param {string} host */
function hueOf(host) {
  let hash = 0;
  for (const letter of host) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360;
  return hash;
}

/** @param {{ url: string, code: string }} props */
function ShortUrl({ url, code }) {
  const start = withoutScheme(url).slice(0, -code.length);
  return html`<span class="short-url" title=${url}><span class="short-host">${start}</span><span class="short-code">${code}</span></span>`;
}

/** What a link without a title is called: its path without parameters, if there is one. @param {string} url */
function pathOf(url) {
  const text = withoutScheme(url);
  const [path] = text.match(/\/[^?#]+/) ?? text.match(/[/?#].*/) ?? [text];
  return readable(path);
}

/** A path in its own letters. @param {string} path */
function readable(path) {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** An address that loses the middle of its path where there is no room. @param {{ url: string }} props */
export function Target({ url }) {
  const text = withoutScheme(url);
  const path = Math.max(0, text.search(/[/?#]|$/));
  const cut = Math.max(text.length - KEPT_END, Math.ceil((path + text.length) / 2));
  const parts = [text.slice(0, path), text.slice(path, cut), text.slice(cut)];
  return html`<span class="link-target" title=${url}>${parts.map((part) => html`<span>${part}</span>`)}</span>`;
}

/** @param {{ isDown: boolean }} props */
const Health = ({ isDown }) =>
  isDown
    ? html`<${Status} tone="bad">Down<//>`
    : html`<span class="watched" title="Its destination is monitored"><${Icon} name="monitoring" /><span class="hidden">Monitored</span></span>`;

/** @param {{ tags: string[], filterByTag: (tag: string) => void }} props */
function Tags({ tags, filterByTag }) {
  const more = tags.slice(SHOWN_TAGS);
  return html`<span class="link-tags">
    ${tags.slice(0, SHOWN_TAGS).map((tag) => html`<${Chip} key=${tag} label=${`Show only links with the tag ${tag}`} title=${tag} onClick=${() => filterByTag(tag)}><bdi>${tag}</bdi><//>`)}
    ${more.length > 0 && html`<span class="muted small" title=${more.join(', ')}>+${more.length}</span>`}
  </span>`;
}

/** @param {{ link: Link, actions: RowActions }} props */
function Actions({ link, actions }) {
  const { short_code: code } = link;
  const isGone = link.status === 'deleted';
  const isChangeable = mayChange(link);
  const items = [
    { label: 'Open', icon: /** @type {const} */ ('out'), href: safeUrl(link.short_url) },
    { label: 'QR code', icon: /** @type {const} */ ('qr'), isNarrow: true, act: () => actions.showQr(link) },
    isChangeable && !isGone && { label: 'Edit', icon: /** @type {const} */ ('edit'), isNarrow: true, act: () => actions.edit(link) },
    { label: 'Details', icon: /** @type {const} */ ('overview'), href: href(`links/${code}`) },
    isChangeable && !isGone && { label: link.is_active ? 'Disable' : 'Enable', icon: /** @type {const} */ ('power'), act: () => actions.toggle(link) },
    isChangeable && !isGone && { label: link.archived ? 'Unarchive' : 'Archive', icon: /** @type {const} */ ('archive'), act: () => actions.archive(link) },
    isChangeable && !isGone && { label: 'Delete', icon: /** @type {const} */ ('trash'), isDanger: true, act: () => actions.delete(link) },
    isChangeable && { label: 'Delete with statistics', icon: /** @type {const} */ ('trash'), isDanger: true, act: () => actions.purge(link) },
  ];
  return html`<div class="link-actions">
    <${CopyButton} text=${link.short_url} label=${`Copy ${code}`} />
    <${Button} kind="quiet" icon="qr" label=${`QR code for ${code}`} onClick=${() => actions.showQr(link)} />
    ${isChangeable &&
    !isGone &&
    html`<${Button} kind="quiet" icon="edit" label=${`Edit ${code}`} onClick=${() => actions.edit(link)} onPointerEnter=${actions.prepareEdit} />`}
    <${Menu} class="button quiet square" label=${`More for ${code}`} items=${items}><${Icon} name="more" /><//>
  </div>`;
}
