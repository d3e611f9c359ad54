// The tags that links have: what they are followed, and what can be done to all links that have one.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { href, route, setQuery } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { useStore } from '../../core/store.js';
import { useTagList } from '../../parts/link-changes/counts.js';
import { RunningJobs, useJobs } from '../../parts/jobs/jobs.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icons.js';
import { Menu } from '../../ui/menu.js';
import { Page } from '../../ui/page.js';
import { Empty, Loaded, Skeleton } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { afterJobs, arranged, isBehind, SORTS } from './arranged.js';
import { RenameTag } from './changes.js';
import { TagTable } from './tag-table.js';

/** @typedef {import('./arranged.js').ShownTag} ShownTag */
/** @typedef {import('../../parts/link-changes/counts.js').TagList} TagList */

/** Until what a job has changed is counted. */
const READ_EVERY_MS = 10_000;
/** Fewer are seen at a glance. */
const SEARCHED_FROM = 12;

export function TagsPage() {
  const { me } = useStore(session);
  const [isWaiting, setWaiting] = useState(false);
  const [renamed, setRenamed] = useState(/** @type {ShownTag | undefined} */ (undefined));
  const list = useTagList({ everyMs: isWaiting ? READ_EVERY_MS : undefined });
  const jobs = useJobs().data?.jobs ?? [];
  const behind = list.data !== undefined && isBehind(jobs, list.data.as_of);
  useEffect(() => setWaiting(behind), [behind]);
  // A member's jobs leave out the links of others, which may have the tag, too.
  const mine = mayAct('admin') ? jobs.filter(({ created_by }) => created_by === me?.user_id) : [];
  const tags = list.data ? afterJobs(list.data.tags, list.data.as_of, mine) : [];

  const waiting = html`<${Skeleton} rows=${8} height=${56} />`;
  return html`<${Page} title="Tags">
    <${RunningJobs} />
    <${Loaded} of=${list} what="Couldn’t load the tags." waiting=${waiting}>
      ${(/** @type {TagList} */ data) =>
        tags.length === 0 ? html`<${NoTags} />` : html`<${Tags} tags=${tags} data=${data} jobs=${jobs} isBehind=${behind} onRename=${setRenamed} />`}
    <//>
    ${renamed && html`<${RenameTag} of=${renamed} tags=${tags} onClose=${() => setRenamed(undefined)} />`}
  <//>`;
}

function NoTags() {
  const action = html`<${Button} href=${href('links')}>Go to your links<//>`;
  if (!mayAct('member')) return html`<${Empty} title="No tags yet" action=${action} />`;
  return html`<${Empty} title="No tags yet" action=${action}>
    <p>Tags group links by campaign, place or team. Add them when you create or edit a link, or select several links and click “Tags”.</p>
  <//>`;
}

/** @param {{ tags: ShownTag[], data: TagList, jobs: import('../../parts/jobs/words.js').Job[], isBehind: boolean, onRename: (tag: ShownTag) => void }} props */
function Tags({ tags, data, jobs, isBehind: behind, onRename }) {
  const { query } = useStore(route);
  const text = query.get('q') ?? '';
  const sort = SORTS.find(({ value }) => value === query.get('sort')) ?? SORTS[0];
  const rows = arranged(tags, { text, sort: sort.value });
  const items = SORTS.map(({ value, label }) => ({ label, isCurrent: value === sort.value, act: () => setQuery({ sort: value === SORTS[0].value ? '' : value }) }));
  return html`<div class="tag-controls">
      ${(tags.length >= SEARCHED_FROM || text) && html`<${SearchTags} value=${text} />`}
      <p class="muted small" role="status">
        ${text ? `${number(rows.length)} of ${counted(tags.length, 'tag')}` : wordsOfCount(tags.length, data)}${data.incomplete.length > 0 ? '. Some links couldn’t be included.' : ''}
        ${behind ? html`. Counted <${Time} at=${data.as_of} isInText />. Newer changes follow within a minute.` : ''}
      </p>
      <${Menu} class="button quiet compact sort" items=${items}><span class="hidden">Sort by: </span>${sort.label}<${Icon} name="down" /><//>
    </div>
    ${rows.length === 0
      ? html`<${Empty} title="No tags match" action=${html`<${Button} onClick=${() => setQuery({ q: '' })}>Show all tags<//>`} />`
      : html`<${TagTable} rows=${rows} jobs=${jobs} onRename=${onRename} />`}`;
}

/** @param {number} count @param {TagList} list */
const wordsOfCount = (count, { tags, total }) => (total > tags.length ? `The ${number(tags.length)} most used tags of ${number(total)}` : counted(count, 'tag'));

/** @param {{ value: string }} props */
function SearchTags({ value }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useShortcuts('Tags', [{ keys: '/', text: 'Search tags', act: () => input.current?.select() }]);
  return html`<div class="search" role="search" aria-label="Tags">
    <${Icon} name="search" />
    <input
      ref=${input}
      class="input"
      type="search"
      aria-label="Search tags"
      placeholder="Search tags"
      maxlength="50"
      value=${value}
      onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value })}
    />
    <kbd aria-hidden="true">/</kbd>
  </div>`;
}
