// The home page: making links, finding them, and acting on them.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { ApiError } from '../../core/api.js';
import { route, setQuery } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Lazy } from '../../ui/lazy.js';
import { Page } from '../../ui/page.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { filterOf, isEverything } from './filter.js';
import { FirstRun } from './first-run.js';
import { useLinkList } from './link-list.js';
import { QuickCreate } from './quick-create.js';
import { emptyField } from './quick-queue.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const loadForm = () => import('../../parts/link-form/link-form.js');
/** A failure is told when the form is opened. */
const prepareForm = () => void loadForm().catch(() => {});
const loadQr = () => import('../../parts/qr/qr.js');
const loadRows = () => import('../../parts/link-rows/link-rows.js');

const NO_FILE = new ApiError('offline', 'A file didn’t load.');

export function LinksPage() {
  useStore(session);
  const { query } = useStore(route);
  const filter = filterOf(query);
  const list = useLinkList(filter);
  const [form, setForm] = useState(/** @type {{ link?: Link, url?: string, template?: Partial<Link> } | null} */ (null));
  const [qr, setQr] = useState(/** @type {Link | null} */ (null));
  const [fresh, setFresh] = useState('');
  const [hasFailed, setFailed] = useState(false);
  const mayCreate = mayAct('member');
  const given = query.get('new');
  useEffect(() => {
    if (given === null) return;
    setQuery({ new: undefined, title: undefined });
    if (mayCreate) setForm({ url: given, template: { title: query.get('title') } });
  }, [given]);

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
  const isFirstRun = mayCreate && list.isRead && list.links.length === 0 && list.next === null && list.leftOut === 0 && isEverything(filter);
  // Once they are shown they stay, also while others are read.
  const hasRows = useRef(false);
  hasRows.current ||= list.isRead || list.error !== undefined || !isEverything(filter);

  const waiting = html`<${Skeleton} rows=${9} height=${48} />`;
  return html`<${Page} title="Links" isTitleHidden>
    ${mayCreate &&
    html`<${QuickCreate}
      onLink=${onLink}
      onUndone=${(/** @type {string} */ code) => list.remove(code)}
      edit=${openers.edit}
      openOptions=${(/** @type {string} */ url) => setForm({ url })}
      onMany=${() => list.reload()}
      prepareOptions=${openers.prepareEdit}
    />`}
    ${isFirstRun
      ? html`<${FirstRun} />`
      : !hasRows.current
        ? waiting
        : hasFailed
          ? html`<${Failure} what="Couldn’t load the links." error=${NO_FILE} retry=${() => setFailed(false)} />`
          : html`<${Lazy} load=${loadRows} name="LinkRows" waiting=${waiting} onFailure=${() => setFailed(true)} list=${list} filter=${filter} fresh=${fresh} openers=${openers} />`}
    ${form && html`<${Lazy} load=${loadForm} name="LinkForm" key=${form.link?.short_code ?? 'new'} ...${form} onSaved=${onSaved} onFailure=${() => setForm(null)} onClose=${() => setForm(null)} onCopy=${(/** @type {Link} */ template) => setForm({ template })} />`}
    ${qr && html`<${Lazy} load=${loadQr} name="QrDialog" link=${qr} onFailure=${() => setQr(null)} onClose=${() => setQr(null)} />`}
  <//>`;
}
