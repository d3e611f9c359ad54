// The home page: making links, finding them, and acting on them.

import { html, useRef, useState } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { useOverview } from '../../core/lists.js';
import { route, setQuery } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { useRows, useStable } from '../../core/stable.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Lazy } from '../../ui/lazy.js';
import { Page } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { VirtualList } from '../../ui/virtual.js';
import { deleteLink, purgeLink, toggle } from './changes.js';
import { filterOf, isEverything, NO_FILTER, withTag } from './filter.js';
import { Filters } from './filters.js';
import { FirstRun } from './first-run.js';
import { useLinkList } from './link-list.js';
import { QuickCreate } from './quick-create.js';
import { emptyField } from './quick-queue.js';
import { LinkRow, ROW_HEIGHT } from './row.js';
import { SelectionBar } from './selection.js';
import { useRowKeys } from './row-keys.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const loadForm = () => import('../../parts/link-form/link-form.js');
/** A failure is told when the form is opened. */
const prepareForm = () => void loadForm().catch(() => {});
const loadQr = () => import('../../parts/qr/qr.js');

export function LinksPage() {
  useStore(session);
  const filter = filterOf(useStore(route).query);
  const list = useLinkList(filter);
  const overview = useOverview().data;
  const [form, setForm] = useState(/** @type {{ link?: Link, url?: string, template?: Link } | null} */ (null));
  const [qr, setQr] = useState(/** @type {Link | null} */ (null));
  const [fresh, setFresh] = useState('');
  const mayCreate = mayAct('member');

  const onLink = (/** @type {Link} */ link) => {
    list.putFirst(link);
    setFresh(link.short_code);
  };
  const onSaved = (/** @type {Link} */ link, /** @type {boolean} */ isNew) => {
    if (!isNew) return list.change(link.short_code, link);
    onLink(link);
    emptyField(form?.url ?? '');
  };
  const openers = {
    edit: (/** @type {Link} */ link) => setForm({ link }),
    showQr: setQr,
    prepareEdit: prepareForm,
  };
  const isFirstRun = list.isRead && list.links.length === 0 && isEverything(filter);

  return html`<${Page} title="Links" isTitleHidden>
    ${mayCreate &&
    html`<${QuickCreate}
      onLink=${onLink}
      onUndone=${(/** @type {string} */ code) => list.remove(code)}
      edit=${openers.edit}
      openOptions=${(/** @type {string} */ url) => setForm({ url })}
      prepareOptions=${openers.prepareEdit}
    />`}
    ${isFirstRun && mayCreate
      ? html`<${FirstRun} />`
      : html`<${Filters} filter=${filter} counts=${overview?.links} hasColleagues=${list.links.some((link) => link.created_by !== list.links[0].created_by)} />
          <${Results} list=${list} filter=${filter} fresh=${fresh} down=${downTargets(overview)} openers=${openers} />`}
    ${form && html`<${Lazy} load=${loadForm} name="LinkForm" key=${form.link?.short_code ?? 'new'} ...${form} onSaved=${onSaved} onFailure=${() => setForm(null)} onClose=${() => setForm(null)} onCopy=${(/** @type {Link} */ template) => setForm({ template })} />`}
    ${qr && html`<${Lazy} load=${loadQr} name="QrDialog" link=${qr} onFailure=${() => setQr(null)} onClose=${() => setQr(null)} />`}
  <//>`;
}

/** The targets that don't answer. @param {import('../../core/lists.js').Overview | undefined} overview */
const downTargets = (overview) => new Set((overview?.down ?? []).map(({ id }) => id));

/**
 * @param {object} props
 * @param {import('./link-list.js').LinkList} props.list
 * @param {import('./filter.js').Filter} props.filter
 * @param {string} props.fresh the code of the link that was made last
 * @param {Set<string>} props.down the targets that don't answer
 * @param {{ edit: (link: Link) => void, showQr: (link: Link) => void, prepareEdit: () => void }} props.openers
 */
function Results({ list, filter, fresh, down, openers }) {
  const [selected, setSelected] = useState(/** @type {Set<string>} */ (new Set()));
  const lastSelected = useRef(-1);
  const { links } = list;
  const { me } = session.get();

  const select = (/** @type {number} */ index, /** @type {boolean} */ isRange) => {
    const from = isRange ? lastSelected.current : -1;
    setSelected((before) => selectedWith(before, links, index, from));
    lastSelected.current = index;
  };
  const row = useRows();
  const actions = useStable({
    ...openers,
    toggle: (/** @type {Link} */ link) => void toggle(link, list),
    delete: (/** @type {Link} */ link) => void deleteLink(link, list),
    purge: (/** @type {Link} */ link) => void purgeLink(link, list),
    filterByTag: (/** @type {string} */ tag) => setQuery(withTag(filter, tag, 'with')),
    select,
  });
  const clear = () => setSelected(new Set());
  const active = useRowKeys({ list, actions, clear, hasSelection: selected.size > 0 });

  if (!list.isRead && list.error) return html`<${Failure} what="The links can’t be shown." error=${list.error} retry=${() => list.reload()} />`;
  if (!list.isRead) return html`<${Skeleton} rows=${8} height=${ROW_HEIGHT - 8} />`;
  if (links.length === 0) {
    if (isEverything(filter)) return html`<${Empty} title="There are no links yet."><p>You see them here as soon as somebody has made one.</p><//>`;
    return html`<${Empty} title="No link matches these filters." action=${html`<${Button} onClick=${() => setQuery(NO_FILTER)}>Show all links<//>`} />`;
  }
  const chosen = links.filter((link) => selected.has(link.short_code));
  return html`<p class="hidden" role="status">${list.total === null ? `${counted(links.length, 'link')} so far` : counted(list.total, 'link')}</p>
    <div class="card link-list">
      <${VirtualList} label="Links" count=${links.length} height=${ROW_HEIGHT} kept=${active} onEnd=${() => !list.error && list.loadMore()}>
        ${(/** @type {number} */ index) => {
          const link = links[index];
          const code = link.short_code;
          const state = {
            link,
            index,
            count: list.total ?? -1,
            isSelected: selected.has(code),
            isSelecting: selected.size > 0,
            isNew: code === fresh,
            isDown: link.target_id !== undefined && down.has(link.target_id),
          };
          return row(code, [...Object.values(state), me], () => html`<${LinkRow} key=${code} ...${state} actions=${actions} />`);
        }}
      <//>
    </div>
    <${End} list=${list} />
    ${chosen.length > 0 && html`<${SelectionBar} links=${chosen} list=${list} selectAll=${() => setSelected(new Set(links.map((link) => link.short_code)))} clear=${clear} />`}`;
}

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

/** What is below the rows. @param {{ list: import('./link-list.js').LinkList }} props */
function End({ list }) {
  if (list.error) return html`<${Failure} what="Not everything could be read." error=${list.error} retry=${() => (list.next === null ? list.reload() : list.loadMore())} />`;
  const text = list.total === null ? `${number(list.links.length)} so far` : `${number(list.links.length)} of ${number(list.total)}`;
  return html`<p class="list-end muted small">
    <span>${text}</span>
    ${list.next !== null && html`<${Button} class="compact" isBusy=${list.reading !== undefined} onClick=${() => list.loadMore()}>Load more<//>`}
  </p>`;
}
