// The filters above the list: each is a chip, and each is in the address.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { folded } from '../../core/folding.js';
import { number } from '../../core/format.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { href, setQuery } from '../../core/router.js';
import { useTags } from '../link-changes/counts.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { isEverything } from '../../pages/links/filter.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chips.js';
import { Icon } from '../../ui/icons.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Lazy } from '../../ui/lazy.js';
import { Menu } from '../../ui/menu.js';
import { NO_FILTER, SORTS, STATUSES, withTag } from './choices.js';
import { DateFilter } from './date-filter.js';

const TYPING_MS = 250;
const OFFERED_TAGS = 50;

/** @typedef {import('../../pages/links/filter.js').Filter} Filter */

/**
 * @param {{ filter: Filter, counts: Record<string, number> | undefined, hasColleagues: boolean }} props `counts` of links by status; whether several people have made links
 */
export function Filters({ filter, counts, hasColleagues }) {
  const [isSaving, setSaving] = useState(false);
  const { part, focusLater } = useLaterFocus();
  const endSaving = () => {
    // What stops it goes. Whoever is elsewhere stays there.
    if (part.current?.querySelector('.saving')?.contains(document.activeElement)) focusLater('.save-links');
    setSaving(false);
  };
  return html`<div class="filters" role="search" aria-label="Links" ref=${part}>
    <${Search} value=${filter.q} />
    <div class="chips">
      <${StatusFilter} filter=${filter} counts=${counts} />
      <${TagFilter} filter=${filter} />
      ${(hasColleagues || filter.by) && html`<${CreatorFilter} by=${filter.by} />`}
      <${DateFilter} label="Created" title="Created between" from=${filter.from} to=${filter.to} />
      ${!isEverything(filter) && html`<${Button} kind="quiet" class="compact" onClick=${() => setQuery(NO_FILTER)}>Clear<//>`}
    </div>
    <div class="row">
      <${Button} kind="quiet" icon="save" class="compact quick-other save-links" aria-label="Download CSV" disabled=${isSaving} onClick=${() => setSaving(true)}>Download CSV<//>
      <${Menu} class="button quiet compact sort" items=${SORTS.map(({ value, label }) => ({ label, isCurrent: filter.sort === value, act: () => setQuery({ sort: value === 'newest' ? '' : value }) }))}>
        <span class="hidden">Sort by: </span>${SORTS.find(({ value }) => value === filter.sort)?.label}<${Icon} name="down" />
      <//>
    </div>
    ${isSaving && html`<${Lazy} load=${loadFile} name="LinksFile" filter=${filter} onFailure=${endSaving} onEnd=${endSaving} />`}
  </div>`;
}

const loadFile = () => import('../links-file/links-file.js');

/** A chip for each status that links have, and for archived ones; on a phone they are one menu. @param {{ filter: Filter, counts: Record<string, number> | undefined }} props */
function StatusFilter({ filter: { status, archived }, counts }) {
  const items = [
    ...STATUSES.map(({ value, label, isRare }) => ({ key: value, label, isRare, isCurrent: value === status, act: () => setQuery({ status: value === status ? '' : value }) })),
    { key: 'archived', label: archived === 'all' ? 'Including archived' : 'Archived', isRare: false, isCurrent: archived !== '', act: () => setQuery({ archived: archived ? '' : 'true' }) },
  ]
    // Until the counts are there, a status that few workspaces use would take a second line, and all below would move up later.
    .filter(({ key, isRare, isCurrent }) => (counts?.[key] === undefined ? !isRare : counts[key] > 0) || isCurrent)
    // Of archived links it is not known how many have a status.
    .map((item) => ({ ...item, note: counts?.[item.key] === undefined || (archived && item.key !== 'archived') ? undefined : number(counts[item.key]) }));
  const current = items.filter(({ isCurrent }) => isCurrent).map(({ label }) => label);
  return html`<span class="status-chips">
      ${items.map(({ key, label, note, isCurrent, act }) => html`<${Chip} key=${key} isOn=${isCurrent} onClick=${act}>${label}${note && html` <span class="muted">${note}</span>`}<//>`)}
    </span>
    <span class="status-menu"><${Menu} class=${`chip ${current.length ? 'on' : ''}`} align="start" items=${items}>${current.join(', ') || 'Status'}<${Icon} name="down" /><//></span>`;
}

/** @param {{ value: string }} props */
function Search({ value }) {
  const [text, setText] = useState(value);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const sent = useRef(value);

  useEffect(() => {
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      setQuery({ q: text.trim() });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (value === sent.current.trim()) return;
    sent.current = value;
    setText(value);
  }, [value]);

  useShortcuts('Links', [{ keys: '/', text: 'Search', act: () => input.current?.select() }]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'ArrowDown') /** @type {HTMLElement | null} */ (document.querySelector('.link-row a'))?.focus();
    else if (event.key !== 'Escape') return;
    else if (text) setText('');
    else input.current?.blur();
    event.preventDefault();
  };
  return html`<div class="search">
    <${Icon} name="search" />
    <input
      ref=${input}
      class="input"
      type="search"
      aria-label="Search links"
      placeholder="Search links"
      maxlength="200"
      value=${text}
      onInput=${(/** @type {any} */ event) => setText(event.target.value)}
      onKeyDown=${onKeyDown}
    />
    <kbd aria-hidden="true">/</kbd>
  </div>`;
}

/** A chip for each tag that links have or don't have: pressing it turns one into the other. @param {{ filter: Filter }} props */
function TagFilter({ filter }) {
  const known = useTags();
  const { tags, isAny, not } = filter;
  // In an order that doesn't change with what is wanted of a tag, so that its chip keeps its place and the focus.
  const chosen = [...tags, ...not].sort();
  const keys = chosen.map(folded);
  const offered = known.filter(({ tag }) => !keys.includes(folded(tag))).slice(0, OFFERED_TAGS);
  const want = (/** @type {string} */ tag, /** @type {'with' | 'without' | 'either'} */ wanted) => setQuery(withTag(filter, tag, wanted));
  return html`${chosen.map((tag) => {
    const isOut = not.includes(tag);
    return html`<${Chip}
      key=${tag}
      tone=${isOut ? 'not' : 'on'}
      label=${isOut ? `not ${tag}: show only links with this tag` : `${tag}: exclude links with this tag`}
      onClick=${() => want(tag, isOut ? 'with' : 'without')}
      removeLabel=${isOut ? `Stop excluding the tag ${tag}` : `Remove the tag ${tag}`}
      onRemove=${() => want(tag, 'either')}
      ><${Icon} name="tag" /> ${isOut && 'not '}<bdi>${tag}</bdi><//>`;
  })}
  ${tags.length === 1 && not.length === 0 && html`<${Button} kind="quiet" class="compact" icon="overview" href=${href(['tags', tags[0]])} aria-label=${`Statistics for the tag ${tags[0]}`}>Statistics<//>`}
  ${tags.length > 1 &&
  html`<${Menu} class="chip" align="start" items=${ANY_OR_ALL.map(({ value, label }) => ({ label, isCurrent: isAny === (value === 'any'), act: () => setQuery({ tags: value }) }))}
    >${isAny ? 'Match any tag' : 'Match all tags'}<${Icon} name="down" /><//>`}
  ${offered.length > 0 &&
  html`<${Menu} class="chip" align="start" items=${offered.map(({ tag, links }) => ({ label: tag, note: number(links), act: () => want(tag, 'with') }))}
    >Tag<${Icon} name="down" /><//>`}`;
}

const ANY_OR_ALL = [
  { value: '', label: 'Match all tags' },
  { value: 'any', label: 'Match any tag' },
];

/** @param {{ by: string }} props */
function CreatorFilter({ by }) {
  const [isWanted, setWanted] = useState(Boolean(by));
  const members = useMembers({ isWanted }).data?.members ?? [];
  if (by) {
    const member = members.find((/** @type {any} */ one) => one.user_id === by);
    return html`<${Chip} tone="on" removeLabel="Show everyone’s links" onRemove=${() => setQuery({ by: '' })}>By <bdi>${nameOf(member)}</bdi><//>`;
  }
  const items = members.map((/** @type {any} */ member) => ({ label: nameOf(member), act: () => setQuery({ by: member.user_id }) }));
  return html`<${Menu} class="chip" align="start" items=${items} onOpen=${() => setWanted(true)}>Creator<${Icon} name="down" /><//>`;
}
