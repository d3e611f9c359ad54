// What the palette's field finds: what can be done here, pages, workspaces, links and tags.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { counted, withoutScheme } from '../../core/format.js';
import { useTags } from '../link-changes/counts.js';
import { href, navigate } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { MOD, shortcutGroups } from '../../core/shortcuts.js';
import { copyText } from '../../ui/copy.js';
import { Icon } from '../../ui/icons.js';
import { toast } from '../../ui/toast.js';
import { ACCOUNT_VIEWS } from '../account-views/account-views.js';
import { useLatest, useSearch } from './links.js';
import { ranked } from './matching.js';

export { Help } from './help.js';

/**
 * @typedef {object} PaletteProps
 * @property {string} text what is looked for
 * @property {Element | null} focused what had the focus before
 * @property {(id: string) => void} tell is told which option would be taken; none is an empty text
 * @property {import('../../pages.js').PageEntry[]} pages
 * @property {import('../../ui/menu.js').MenuItem[]} workspaces
 * @property {import('../../ui/menu.js').MenuItem[]} others what else can be done anywhere
 * @property {() => void} onClose
 */

/** A page, or one of its views, which may also be found by what is in it. @typedef {import('../../pages.js').PageEntry & { query?: Record<string, string>, more?: string }} Place */

/**
 * @typedef {object} Option
 * @property {string} id
 * @property {string} label
 * @property {string} [more] what else it is found by
 * @property {string} [detail]
 * @property {string} [note]
 * @property {import('../../ui/icons.js').IconName} [icon]
 * @property {string[]} [keys]
 * @property {string} [href]
 * @property {() => void} [act]
 * @property {string} [copies] what the keys for copying copy
 * @property {boolean} [isDisabled]
 * @property {boolean} [isSought] whether it is shown only if somebody looks for it
 * @property {boolean} [stays] whether the palette stays open
 * @property {number} [rank]
 */

/** @typedef {{ label: string, options: Option[] }} Group */

/** @param {PaletteProps} props */
export function Found({ text, tell, onClose, ...places }) {
  const { isNowhere } = session.get();
  const wanted = text.trim();
  const [known] = useState(() => knownGroups(places));
  const latest = useLatest({ isWanted: !isNowhere });
  const search = useSearch(isNowhere ? '' : wanted);
  const tags = useTags({ isWanted: !isNowhere && wanted !== '' });
  const isWaiting = !isNowhere && search.wanted !== wanted;
  const links = (wanted ? search.links : latest).map(linkOption);
  // What was found for something else stays meanwhile. What a single word has found has it, if only where nothing looks here.
  const worst = isWaiting || (!search.error && !/\s/.test(wanted)) ? UNFIT : Infinity;
  const groups = [
    ...known.map((group) => ({ ...group, options: ranked(group.options.filter(({ isSought }) => wanted || !isSought), wanted) })),
    { label: wanted ? 'Links' : 'Latest links', options: [...ranked(links, wanted, worst), ...further(wanted, search)] },
    // Last, since a tag is mostly typed for its links.
    { label: 'Tags', options: wanted ? ranked(tags.map(tagOption), wanted).slice(0, MOST_TAGS) : [] },
  ].filter(({ options }) => options.length > 0);
  const options = groups.flatMap((group) => group.options);

  const { current, hasMoved, moveTo } = useCurrent(options, wanted);
  const hasEntered = useRef('');
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    tell(current?.id ?? '');
    if (current) document.getElementById(current.id)?.scrollIntoView({ block: 'nearest' });
  }, [current?.id]);

  /** @param {Option} option */
  function choose(option) {
    if (option.isDisabled) return;
    if (!option.stays) onClose();
    // Once the focus is back where it was: what is done may be about what has it.
    setTimeout(() => (option.act ? option.act() : follow(option.href ?? '')));
  }

  /** What was found for something else may not be meant. */
  function enter() {
    if (isWaiting && !hasMoved && (!current || current.rank === UNFIT)) hasEntered.current = wanted;
    else if (current) choose(current);
  }
  useEffect(() => {
    if (!isWaiting && wanted && hasEntered.current === wanted && current) choose(current);
    if (!isWaiting) hasEntered.current = '';
  }, [isWaiting, wanted]);

  useKeys(list, { options, current, moveTo, enter });
  return html`<p class="hidden" role="status">${isWaiting ? '' : said(wanted, options, search.error)}</p>
    <div id="found" ref=${list} role="listbox" aria-label="Results" hidden=${options.length === 0}>
      ${groups.map(
        ({ label, options: found }) => html`<div key=${label} role="group" aria-label=${label}>
          <h3 aria-hidden="true">${label}</h3>
          ${found.map((option) => html`<${OptionView} key=${option.id} option=${option} isCurrent=${option.id === current?.id} moveTo=${moveTo} choose=${choose} />`)}
        </div>`,
      )}
    </div>
    ${search.error && !isWaiting && html`<p class="found-note">${NO_SEARCH} ${search.error.message}</p>`}
    ${options.length === 0 && html`<p class="found-note">${isWaiting ? 'Searching…' : said(wanted, options)}</p>`}
    <p class="found-keys small-print"><kbd>⏎</kbd> Open ${current?.copies && html`<kbd>${MOD}</kbd> <kbd>C</kbd> Copy the short link`}</p>`;
}

const UNFIT = 4;
const MOST_TAGS = 5;
const NO_SEARCH = 'Couldn’t search the links.';

/** What a screen reader says. @param {string} wanted @param {Option[]} options @param {Error} [error] */
function said(wanted, options, error) {
  if (!wanted) return '';
  const count = options.filter(({ stays }) => !stays).length;
  return `${error ? `${NO_SEARCH} ` : ''}${count === 0 ? `No results for “${wanted}”.` : counted(count, 'result')}`;
}

/** A page, and what that of the account has besides the view that it begins with. @param {import('../../pages.js').PageEntry} page @returns {Place[]} */
function placesOf(page) {
  if (page.path === 'settings' && mayAct('member')) return [page, { ...page, title: 'Import links', more: 'Move from Bitly Dub Short.io Rebrandly Shlink YOURLS Kutt', icon: 'save', key: undefined, query: { open: 'import' } }];
  if (page.path !== 'account') return [page];
  return [page, ...ACCOUNT_VIEWS.slice(1).map(({ value, label, more }) => ({ ...page, title: `Your ${label.toLowerCase()}`, more: `${page.title} ${more}`, query: { view: value } }))];
}

/** @param {Place} place @returns {Option} */
const pageOption = ({ path, title, more, icon, key, query }) => ({ id: idOf(`page-${path}-${Object.values(query ?? {})}`), label: title, more, icon, keys: key ? ['g', key] : [], href: href(path, query), isSought: query !== undefined });

/** What can be found without asking the API. @param {Pick<PaletteProps, 'focused' | 'pages' | 'workspaces' | 'others'>} places @returns {Group[]} */
function knownGroups({ focused, pages, workspaces, others }) {
  const { isNowhere } = session.get();
  const ways = [
    { label: 'Pages', options: pages.flatMap(placesOf).map(pageOption) },
    // Whether one may create one, the page says that is shown to who is in none.
    { label: 'Workspaces', options: workspaces.filter(({ isCurrent, key }) => !isCurrent && (key || !isNowhere)).map(optionOf) },
  ];
  if (isNowhere) return ways;
  const here = { label: 'On this page', options: actionsOf((group) => group !== GENERAL && group !== 'Go to', focused) };
  return [here, ...ways, { label: GENERAL, options: [...actionsOf((group) => group === GENERAL, focused), ...others.map(optionOf)] }];
}

const GENERAL = 'General';
const OWN_KEY = `${MOD} K`;

/** What the keys of some groups do. @param {(group: string) => boolean} isAsked @param {Element | null} focused @returns {Option[]} */
function actionsOf(isAsked, focused) {
  const groups = shortcutGroups().filter(({ group }) => isAsked(group));
  return groups.flatMap(({ group, list }) => {
    const offered = list.filter(({ keys, act, isOffered = () => true }) => act && keys !== OWN_KEY && isOffered(focused));
    return offered.map(({ keys, text }) => ({ id: idOf(`act-${group}-${keys}`), label: text, more: group, keys: keys.split(' '), act: () => actOf(group, keys)?.() }));
  });
}

/** An id has no spaces. @param {string} text */
const idOf = (text) => encodeURIComponent(text);

/** What the keys do now: the page may have been drawn again since. @param {string} group @param {string} keys */
const actOf = (group, keys) => shortcutGroups().find((one) => one.group === group)?.list.find((one) => one.keys === keys)?.act;

/** @param {import('../../ui/menu.js').MenuItem} item @returns {Option} */
const optionOf = ({ key, label, note, icon, href: address, act, isDisabled }) => ({ id: idOf(`item-${key ?? label}`), label, note, icon: key ? 'members' : icon, href: address, act, isDisabled });

/** @param {import('../../core/lists.js').Link} link @returns {Option} */
function linkOption({ short_code: code, short_url: url, original_url: target, title, description, tags }) {
  const to = withoutScheme(target);
  return { id: `link-${code}`, label: title || to, detail: title ? to : '', more: [code, target, description, ...tags].join(' '), note: code, icon: 'links', href: href(`links/${code}`), copies: url };
}

/** @param {import('../../core/lists.js').TagCount} tag @returns {Option} */
const tagOption = ({ tag, links }) => ({ id: idOf(`tag-${tag}`), label: tag, note: counted(links, 'link'), icon: 'tag', href: href(['tags', tag]) });

/** What leads on where not all links were found. @param {string} wanted @param {ReturnType<typeof useSearch>} search @returns {Option[]} */
function further(wanted, { hasMore, error, tryAgain }) {
  if (error) return [{ id: 'found-again', label: 'Search the links again', icon: 'refresh', act: tryAgain, stays: true }];
  return wanted && hasMore ? [{ id: 'found-all', label: `All links matching “${wanted}”`, icon: 'search', href: href('links', { q: wanted }) }] : [];
}

/** @param {string} address */
const follow = (address) => (address.startsWith('#') ? navigate(address) : location.assign(address));

/** Which option would be taken: the one that somebody has moved to, or else the first. @param {Option[]} options @param {string} wanted */
function useCurrent(options, wanted) {
  const [moved, setMoved] = useState({ id: '', wanted });
  const chosen = moved.wanted === wanted ? options.find(({ id }) => id === moved.id) : undefined;
  return { current: chosen ?? options[0], hasMoved: chosen !== undefined, moveTo: (/** @type {Option} */ { id }) => setMoved({ id, wanted }) };
}

/**
 * The keys of the field.
 * @param {{ current: HTMLElement | null }} list
 * @param {{ options: Option[], current?: Option, moveTo: (option: Option) => void, enter: () => void }} latest
 */
function useKeys(list, latest) {
  const now = useRef(latest);
  now.current = latest;
  useEffect(() => {
    const dialog = /** @type {HTMLElement} */ (list.current?.closest('dialog'));
    const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
      const field = event.target;
      if (!(field instanceof HTMLInputElement) || event.isComposing) return;
      const { options, current, moveTo, enter } = now.current;
      const last = options.length - 1;
      const at = options.findIndex(({ id }) => id === current?.id);
      const to = { ArrowDown: at < last ? at + 1 : 0, ArrowUp: at > 0 ? at - 1 : last, Home: 0, End: last }[event.key];
      const isCopy = (event.ctrlKey || event.metaKey) && event.key === 'c' && field.selectionStart === field.selectionEnd;
      if (to !== undefined && !event.shiftKey) options[to] && moveTo(options[to]);
      else if (event.key === 'Enter') enter();
      else if (isCopy && current?.copies) void copyText(current.copies).then((isDone) => isDone && toast('Copied.'));
      else return;
      event.preventDefault();
    };
    dialog.addEventListener('keydown', onKeyDown);
    return () => dialog.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** @param {{ option: Option, isCurrent: boolean, moveTo: (option: Option) => void, choose: (option: Option) => void }} props */
function OptionView({ option, isCurrent, moveTo, choose }) {
  const { id, label, detail, note, icon, keys = [], href: address, isDisabled } = option;
  const onClick = (/** @type {MouseEvent} */ event) => {
    // In another tab, as everywhere.
    if (address && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    choose(option);
  };
  const props = {
    id,
    class: `menu-item ${isCurrent ? 'active' : ''}`,
    role: 'option',
    tabindex: -1,
    'aria-selected': isCurrent,
    'aria-disabled': isDisabled || undefined,
    // The field keeps the focus.
    onMouseDown: (/** @type {Event} */ event) => event.preventDefault(),
    onPointerMove: () => isCurrent || moveTo(option),
    onClick,
  };
  const inner = html`<${Icon} name=${icon ?? 'right'} />
    <span class="menu-label" dir="auto" title=${detail ? `${label}\n${detail}` : label}>${label} ${detail && html` <bdi class="muted">${detail}</bdi>`}</span>
    ${note && html`<span class="menu-note">${note}</span>`}
    ${keys.length > 0 && html`<span class="found-key">${keys.map((key) => html`<kbd>${key}</kbd> `)}</span>`}`;
  return address ? html`<a ...${props} href=${address}>${inner}</a>` : html`<div ...${props}>${inner}</div>`;
}
