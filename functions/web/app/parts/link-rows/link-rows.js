// The rows of links, and what finds, selects and changes them. Whoever has no links yet doesn't need them.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { useOverview } from '../link-changes/counts.js';
import { setQuery } from '../../core/router.js';
import { session } from '../../core/session.js';
import { isEverything, mayChangeMatching } from '../../pages/links/filter.js';
import { archive, deleteLink, purgeLink, toggle } from '../link-changes/link-changes.js';
import { Button } from '../../ui/button.js';
import { Later, Lazy } from '../../ui/lazy.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { NO_FILTER, withTag } from './choices.js';
import { Filters } from './filters.js';
import { LinkRow, ROW_HEIGHT } from './row.js';
import { useRowKeys } from './row-keys.js';
import { useRows, useStable } from './stable.js';
import { VirtualList } from './virtual.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../pages/links/filter.js').Filter} Filter */
/** @typedef {import('../../pages/links/link-list.js').LinkList} LinkList */
/** @typedef {{ edit: (link: Link) => void, showQr: (link: Link) => void, prepareEdit: () => void }} Openers */

/** @param {{ list: LinkList, filter: Filter, fresh: string, openers: Openers }} props `fresh` is the code of the link that was made last */
export function LinkRows({ list, filter, fresh, openers }) {
  const overview = useOverview().data;
  const hasColleagues = list.links.some((link) => link.created_by !== list.links[0].created_by);
  return html`<${Filters} filter=${filter} counts=${overview?.links} hasColleagues=${hasColleagues} />
    <${Later} load=${loadJobs} name="RunningJobs" onEnd=${() => list.reload()} />
    <${Results} list=${list} filter=${filter} fresh=${fresh} down=${downTargets(overview)} openers=${openers} />`;
}

/** The targets that don't answer. @param {import('../../core/lists.js').Overview | undefined} overview */
const downTargets = (overview) => new Set((overview?.down ?? []).map(({ id }) => id));

/**
 * @param {object} props
 * @param {LinkList} props.list
 * @param {Filter} props.filter
 * @param {string} props.fresh the code of the link that was made last
 * @param {Set<string>} props.down the targets that don't answer
 * @param {Openers} props.openers
 */
function Results({ list, filter, fresh, down, openers }) {
  const [selected, setSelected] = useState(/** @type {Set<string>} */ (new Set()));
  // All that match, also without a row, as long as this list is shown.
  const [whole, setWhole] = useState(/** @type {LinkList | null} */ (null));
  const isAll = whole === list;
  const lastSelected = useRef(-1);
  const { links } = list;
  const { me } = session.get();

  const select = (/** @type {number} */ index, /** @type {boolean} */ isRange) => {
    const from = isRange ? lastSelected.current : -1;
    setSelected((before) => selectedWith(isAll ? codesOf(links) : before, links, index, from));
    setWhole(null);
    lastSelected.current = index;
  };
  const row = useRows();
  const actions = useStable({
    ...openers,
    toggle: (/** @type {Link} */ link) => void toggle(link, list),
    archive: (/** @type {Link} */ link) => void archive(link, list),
    delete: (/** @type {Link} */ link) => void deleteLink(link, list),
    purge: (/** @type {Link} */ link) => void purgeLink(link, list),
    filterByTag: (/** @type {string} */ tag) => setQuery(withTag(filter, tag, 'with')),
    select,
  });
  const clear = () => {
    setSelected(new Set());
    setWhole(null);
  };
  const chosen = isAll ? links : links.filter((link) => selected.has(link.short_code));
  const hasMore = !isAll && chosen.length === links.length && list.next !== null && mayChangeMatching(filter);
  const selectMore = () => (hasMore ? setWhole(list) : setSelected(codesOf(links)));
  const active = useRowKeys({ list, actions, selectMore, clear, hasSelection: chosen.length > 0 });
  useEffect(() => setWhole(null), [list]);

  const found = list.total === null ? `${counted(links.length, 'link')} so far` : counted(list.total, 'link');
  const said = isAll ? 'All matching links selected' : chosen.length > 0 ? `${counted(chosen.length, 'link')} selected` : found;
  // It stays whatever is shown below, since what is new with its text isn't read.
  const status = html`<p class="hidden" role="status">${list.isRead && said}</p>`;
  if (!list.isRead && list.error) return html`${status}<${Failure} what="Couldn’t load the links." error=${list.error} retry=${() => list.reload()} />`;
  if (!list.isRead || (links.length === 0 && list.next !== null)) return html`${status}<${Skeleton} rows=${8} height=${ROW_HEIGHT - 8} />`;
  if (links.length === 0) return html`${status}<${Nothing} list=${list} filter=${filter} />`;
  return html`${status}
    <div class="card link-list">
      <${VirtualList} label="Links" count=${links.length} height=${ROW_HEIGHT} kept=${active} onEnd=${() => !list.error && list.loadMore()}>
        ${(/** @type {number} */ index) => {
          const link = links[index];
          const code = link.short_code;
          const state = {
            link,
            index,
            count: list.total ?? -1,
            isSelected: isAll || selected.has(code),
            isSelecting: isAll || selected.size > 0,
            isNew: code === fresh,
            // Where all are, it needs no saying.
            isPutAway: link.archived && link.status !== 'deleted' && filter.archived !== 'true',
            isDown: link.target_id !== null && down.has(link.target_id),
          };
          return row(code, [...Object.values(state), me], () => html`<${LinkRow} key=${code} ...${state} actions=${actions} />`);
        }}
      <//>
    </div>
    <${End} list=${list} />
    ${chosen.length > 0 &&
    html`<${Lazy}
      load=${loadSelection}
      name="SelectionBar"
      onFailure=${clear}
      links=${chosen}
      list=${list}
      isAll=${isAll}
      hasMore=${hasMore}
      selectMore=${selectMore}
      clear=${clear}
    />`}`;
}

/** @param {Link[]} links */
const codesOf = (links) => new Set(links.map((link) => link.short_code));

const loadJobs = () => import('../jobs/jobs.js');
const loadSelection = () => import('../selection/selection.js');

/** @param {Set<string>} before @param {Link[]} links @param {number} index @param {number} from where a range begins, or -1 */
function selectedWith(before, links, index, from) {
  const after = new Set(before);
  const code = links[index].short_code;
  if (from < 0) {
    if (!after.delete(code)) after.add(code);
    return after;
  }
  for (let at = Math.min(from, index); at <= Math.max(from, index); at += 1) after.add(links[at].short_code);
  return after;
}

/** @param {{ list: LinkList, filter: Filter }} props */
function Nothing({ list, filter }) {
  const showAll = html`<${Button} onClick=${() => setQuery(NO_FILTER)}>Show all links<//>`;
  if (list.leftOut > 0) return html`<${Empty} title=${isEverything(filter) ? 'All links are archived' : 'Only archived links match these filters'} action=${html`<${LeftOut} count=${list.leftOut} />`} />`;
  if (isEverything(filter)) return html`<${Empty} title="No links yet"><p>They appear here once someone creates one.</p><//>`;
  if (filter.archived && isEverything({ ...filter, archived: '' })) return html`<${Empty} title="No archived links" action=${showAll}><p>Archive links you no longer need to see. They still work.</p><//>`;
  return html`<${Empty} title="No links match these filters" action=${showAll} />`;
}

/** @param {{ count: number }} props */
const LeftOut = ({ count }) => html`<${Button} class="compact" icon="archive" onClick=${() => setQuery({ archived: 'all' })}>Show ${counted(count, 'archived link')}<//>`;

/** What is below the rows. @param {{ list: LinkList }} props */
function End({ list }) {
  if (list.error) return html`<${Failure} what="Couldn’t load all links." error=${list.error} retry=${() => (list.next === null ? list.reload() : list.loadMore())} />`;
  const text = list.total === null ? `${number(list.links.length)} so far` : `${number(list.links.length)} of ${number(list.total)}`;
  return html`<p class="list-end muted small">
    <span>${text}</span>
    ${list.filter.q && list.leftOut > 0 && html`<${LeftOut} count=${list.leftOut} />`}
    ${list.next !== null && html`<${Button} class="compact" isBusy=${list.reading !== undefined} onClick=${() => list.loadMore()}>Load more<//>`}
  </p>`;
}
