// The bar that appears when links are selected: some rows, or all links that match the list's filter, which a job changes then.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { counted, number } from '../../core/format.js';
import { href, navigate } from '../../core/router.js';
import { mayAct } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icons.js';
import { Lazy } from '../../ui/lazy.js';
import { Menu } from '../../ui/menu.js';
import { MOST_LINKS, ProgressText } from '../bulk/bulk.js';
import { askAndBegin, beginJob } from '../jobs/jobs.js';
import { mayChange } from '../link-rows/row.js';
import { jobFilterOf } from './job-filter.js';
import { archiveMany, deleteMany, expireMany, purgeMany, switchMany, tagMany } from './many.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {import('../../pages/links/link-list.js').LinkList} LinkList */
/** @typedef {import('../bulk/bulk.js').Progress} Progress */
/** @typedef {import('../bulk/bulk.js').Tell} Tell */
/** @typedef {import('./undo.js').TagChange} TagChange */

/** What can be done to what is selected; what is missing isn't offered. @typedef {Partial<Record<'archive' | 'bringBack' | 'switchOn' | 'switchOff' | 'qrCodes' | 'delete' | 'purge', () => void>>} Acts */

/** More lines than these can't be told from each other. */
const MOST_COMPARED = 5;

/**
 * @param {object} props
 * @param {Link[]} props.links the rows that are selected
 * @param {LinkList} props.list
 * @param {boolean} props.isAll whether all links that match are, also those without a row
 * @param {boolean} props.hasMore whether all rows are, and more links match
 * @param {() => void} props.selectMore selects all rows, or else all that match
 * @param {() => void} props.clear
 */
export function SelectionBar({ isAll, ...props }) {
  // Toasts make room for the bar.
  useEffect(() => {
    document.body.classList.add('with-bar');
    return () => document.body.classList.remove('with-bar');
  }, []);
  return isAll ? html`<${MatchingBar} ...${props} />` : html`<${RowsBar} ...${props} />`;
}

/** @param {{ links: Link[], list: LinkList, hasMore: boolean, selectMore: () => void, clear: () => void }} props */
function RowsBar({ links, list, hasMore, selectMore, clear }) {
  const [progress, setProgress] = useState(/** @type {Progress | null} */ (null));
  const [hasQr, setQr] = useState(false);
  const closeQr = () => setQr(false);
  const mine = links.filter(mayChange);
  const changeable = mine.filter((link) => link.status !== 'deleted');
  const here = changeable.filter((link) => !link.archived);
  const away = changeable.filter((link) => link.archived);
  const on = changeable.filter((link) => link.is_active);
  const off = changeable.filter((link) => !link.is_active);

  /** @param {(tell: Tell) => Promise<boolean>} act */
  async function run(act) {
    const isDone = await act(setProgress);
    setProgress(null);
    if (isDone) clear();
  }

  const mayCompare = links.length > 1 && links.length <= MOST_COMPARED;
  const compare = () => navigate(href('compare', { codes: links.map((link) => link.short_code).join() }));
  const wider = hasMore ? html`Select all ${list.total !== null && number(list.total)} matches` : links.length < list.links.length && `Select all ${number(list.links.length)}`;

  const text = html`${counted(links.length, 'link')} selected${changeable.length < links.length && html` <span class="muted">(you can change ${number(changeable.length)})</span>`}`;
  const bar = html`<${Bar}
    text=${progress ? html`<${ProgressText} progress=${progress} />` : text}
    isBusy=${progress !== null}
    clear=${clear}
    more=${html`${wider && html`<${Button} kind="quiet" class="compact" disabled=${progress !== null} onClick=${selectMore}>${wider}<//>`}
      ${!hasMore && html`<${Button} class="compact selection-compare" icon="chart" disabled=${!mayCompare || progress !== null} title=${mayCompare ? undefined : `Select two to ${MOST_COMPARED} links to compare them.`} onClick=${compare}>Compare<//>`}`}
    isStill=${changeable.length === 0}
    tags=${{ name: 'TagsDialog', links: changeable, onDone: (/** @type {TagChange} */ tags) => run((tell) => tagMany(changeable, tags, list, tell)) }}
    expiry=${{ name: 'ExpiryDialog', count: counted(changeable.length, 'link'), onDone: (/** @type {string | null} */ expiry) => run((tell) => expireMany(changeable, expiry, list, tell)) }}
    acts=${{
      ...((here.length > 0 || away.length === 0) && { archive: () => run((tell) => archiveMany(here, true, list, tell)) }),
      ...(away.length > 0 && { bringBack: () => run((tell) => archiveMany(away, false, list, tell)) }),
      ...(off.length > 0 && { switchOn: () => run((tell) => switchMany(off, true, list, tell)) }),
      ...((on.length > 0 || off.length === 0) && { switchOff: () => run((tell) => switchMany(on, false, list, tell)) }),
      ...(links.length <= MOST_LINKS && { qrCodes: () => setQr(true) }),
      delete: () => run((tell) => deleteMany(changeable, list, tell)),
      ...(mine.length > 0 && { purge: () => run((tell) => purgeMany(mine, list, tell)) }),
    }}
  />`;
  return html`${bar}${hasQr && html`<${Lazy} load=${() => import('../qr/qr.js')} name="QrCodesDialog" links=${links} onFailure=${closeQr} onClose=${closeQr} />`}`;
}

/** @param {{ list: LinkList, clear: () => void }} props */
function MatchingBar({ list, clear }) {
  const [isCounting, setCounting] = useState(false);
  const [unproven, setUnproven] = useState(/** @type {import('../jobs/words.js').JobBody | null} */ (null));
  const close = () => setUnproven(null);
  // The button that has led here is gone.
  useEffect(() => {
    if (document.activeElement === document.body) /** @type {HTMLElement | null} */ (document.querySelector('.selection-actions button'))?.focus();
  }, []);
  const { status, archived } = list.filter;

  /** @param {import('../jobs/words.js').JobKind} kind @param {{ tag?: string, expires_at?: string | null }} [more] */
  async function begin(kind, more = {}) {
    setCounting(true);
    const job = await askAndBegin({ kind, filter: jobFilterOf(list.filter), ...more }, setUnproven);
    setCounting(false);
    if (job) clear();
  }

  /** @param {import('../jobs/words.js').JobBody} body @param {string} [password] */
  async function beginProven(body, password) {
    if (password) await call('POST /api/auth/proof', { body: { password } });
    await beginJob(body);
    clear();
  }

  const count = list.total === null ? 'all matches' : counted(list.total, 'link');
  const isOwn = !mayAct('admin') && !list.filter.by;
  const text = html`All ${list.total !== null && number(list.total)} matches${isOwn && html` <span class="muted">(only yours change)</span>`}`;
  return html`<${Bar}
    text=${isCounting ? 'Counting…' : text}
    isBusy=${isCounting}
    clear=${clear}
    isStill=${status === 'deleted'}
    tags=${{ name: 'TagDialog', count, onDone: (/** @type {string} */ tag, /** @type {boolean} */ isAdded) => begin(isAdded ? 'tag' : 'untag', { tag }) }}
    expiry=${{ name: 'ExpiryDialog', count, onDone: (/** @type {string | null} */ expires_at) => begin('set_expiry', { expires_at }) }}
    acts=${{
      ...(archived !== 'true' && { archive: () => begin('archive') }),
      ...(archived && { bringBack: () => begin('unarchive') }),
      ...(status !== 'active' && { switchOn: () => begin('switch_on') }),
      ...(status !== 'inactive' && { switchOff: () => begin('switch_off') }),
      delete: () => begin('delete'),
      purge: () => begin('purge'),
    }}
  />${unproven &&
  html`<${Lazy}
    load=${() => import('../proof/proof.js')}
    name="ProofDialog"
    title="Confirm that it’s you"
    task="purge"
    action="Delete"
    isDanger
    send=${(/** @type {string} */ password) => beginProven(unproven, password)}
    onFailure=${close}
    onClose=${close}
  />`}`;
}

/** A dialog of the form of links, and what it is given. @typedef {{ name: string, onDone: (...values: any[]) => void, [given: string]: any }} Asked */

/**
 * @param {object} props
 * @param {unknown} props.text what is selected, or how far it has come
 * @param {boolean} props.isBusy
 * @param {() => void} props.clear
 * @param {unknown} [props.more] further buttons beside the text
 * @param {boolean} props.isStill whether nothing can be done but deleting with statistics
 * @param {Asked} props.tags
 * @param {Asked} props.expiry
 * @param {Acts} props.acts
 */
function Bar({ text, isBusy, clear, more, isStill, tags, expiry, acts }) {
  const [dialog, setDialog] = useState(/** @type {Asked | null} */ (null));
  const close = () => setDialog(null);
  const open = (/** @type {Asked} */ asked) => () =>
    setDialog({
      ...asked,
      onDone(...values) {
        close();
        asked.onDone(...values);
      },
    });
  /** Where there is little room, what is needed less is in the menu. @type {{ label: string, icon: import('../../ui/icons.js').IconName, act?: () => void, isLesser?: boolean, isHarmless?: boolean }[]} */
  const actions = [
    { label: 'Tags', icon: 'tag', act: open(tags) },
    { label: 'Archive', icon: 'archive', act: acts.archive },
    { label: 'Unarchive', icon: 'archive', act: acts.bringBack, isLesser: acts.archive !== undefined },
    { label: 'Enable', icon: 'power', act: acts.switchOn, isLesser: acts.switchOff !== undefined },
    { label: 'Disable', icon: 'power', act: acts.switchOff },
    // Whoever may change nothing has no menu, but room.
    { label: 'QR codes', icon: 'qr', act: acts.qrCodes, isLesser: !isStill, isHarmless: true },
    { label: 'Delete', icon: 'trash', act: acts.delete, isLesser: true },
  ];
  const offered = actions.filter(({ act }) => act);
  const items = [
    ...(isStill ? [] : [...offered.filter(({ isLesser }) => isLesser).map((action) => ({ ...action, isNarrow: true })), { label: 'Set expiration', icon: /** @type {const} */ ('clock'), act: open(expiry) }]),
    acts.purge && { label: 'Delete with statistics', icon: /** @type {const} */ ('trash'), isDanger: true, act: acts.purge },
  ];
  return html`<div class="selection" role="region" aria-label="Selected links">
    <${Button} class="compact" kind="quiet" icon="close" label="Clear selection" onClick=${clear} />
    <p aria-live=${isBusy ? 'polite' : undefined}>${text}</p>
    ${more}
    <div class="selection-actions" role="group" aria-label="Selection actions">
      ${offered.map(({ label, icon, act, isLesser, isHarmless }) => html`<${Button} key=${label} class=${`compact ${isLesser ? 'lesser' : ''}`} icon=${icon} disabled=${isBusy || (isStill && !isHarmless)} onClick=${act}>${label}<//>`)}
      ${!isBusy && items.some(Boolean) && html`<${Menu} class="button compact square" label="More for the selected links" isUp items=${items}><${Icon} name="more" /><//>`}
    </div>
    ${dialog && html`<${Lazy} load=${() => import('../link-form/link-form.js')} onFailure=${close} onClose=${close} ...${dialog} />`}
  </div>`;
}
