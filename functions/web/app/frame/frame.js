// The frame of the application: rail or bottom bar, and the page in it.

import { html, useState } from '../vendor/preact.js';
import { NOWHERE, PAGES } from '../pages.js';
import { newCount, useNews } from '../core/notifications.js';
import { href, navigate, route } from '../core/router.js';
import { mayAct, session, signOut } from '../core/session.js';
import { MOD, useShortcuts } from '../core/shortcuts.js';
import { useStore } from '../core/store.js';
import { Icon } from '../ui/icons.js';
import { Lazy } from '../ui/lazy.js';
import { Menu } from '../ui/menu.js';
import { PageHost } from './page-host.js';
import { loadPalette, Palette } from './palette.js';
import { WorkspaceSwitcher, workspaceItems } from './workspaces.js';

const ACCOUNT = /** @type {PageEntry} */ (PAGES.find(({ path }) => path === 'account'));

/** @param {{ page: PageEntry | undefined }} props */
export function Frame({ page }) {
  const { isNowhere } = useStore(session);
  const { path } = useStore(route);
  const [open, setOpen] = useState(/** @type {'' | 'palette' | 'keys' | 'name'} */ (''));
  const close = () => setOpen('');
  const unread = newCount(useNews().data);
  const pages = PAGES.filter(({ group, role }) => group && mayAct(role ?? 'viewer'));

  useShortcuts('Go to', pages.filter(({ key }) => key).map(({ key, title, path: to }) => ({ keys: `g ${key}`, text: title, act: () => navigate(href(to)) })));
  const openPalette = () => {
    const dialogs = document.querySelectorAll('dialog[open]');
    // At once, since the next key would be the page's.
    if (dialogs.length === 0) return setOpen('palette');
    const isOpen = document.querySelector('dialog.palette');
    // What lies over the page is closed, as by Esc.
    for (const dialog of dialogs) dialog.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
    if (!isOpen) setTimeout(() => setOpen('palette'));
  };
  const openKeys = () => setOpen('keys');
  const nameWorkspace = () => setOpen('name');
  useShortcuts('General', [{ keys: `${MOD} K`, text: FIND, act: openPalette }, { keys: '?', text: 'Keyboard shortcuts', act: openKeys }]);

  const shown = {
    // In no workspace, these two are all that there is.
    work: isNowhere ? [NOWHERE, ACCOUNT] : pages.filter(({ group }) => group === 'work'),
    workspace: pages.filter(({ group }) => group === 'workspace'),
    unread,
    current: isNowhere && page !== ACCOUNT ? NOWHERE.path : (page?.within ?? (path.split('/')[0] || 'links')),
    /** @type {import('../ui/menu.js').MenuItem[]} */
    tools: [{ label: FIND, icon: 'search', note: `${MOD} K`, act: openPalette }, { label: 'Keyboard shortcuts', icon: 'list', note: '?', act: openKeys }],
    nameWorkspace,
  };
  const onSkip = (/** @type {Event} */ event) => {
    event.preventDefault();
    /** @type {HTMLElement | null} */ (document.querySelector('main h1'))?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${onSkip}>Skip to content</a>
    <${Rail} ...${shown} />
    <main id="main" class="framed"><${PageHost} page=${page} key=${session.get().visit} /></main>
    <${BottomBar} ...${shown} />
    ${open === 'palette' && html`<${Palette} pages=${isNowhere ? shown.work : [...pages, ACCOUNT]} workspaces=${workspaceItems(nameWorkspace)} others=${LEAVING} onClose=${close} />`}
    ${open === 'keys' && html`<${Lazy} load=${loadPalette} name="Help" onFailure=${close} onClose=${close} />`}
    ${open === 'name' && html`<${Lazy} load=${() => import('../parts/new-workspace/new-workspace.js')} name="NewWorkspace" onFailure=${close} onClose=${close} />`}`;
}

/** @typedef {import('../pages.js').PageEntry} PageEntry */
/** @typedef {{ work: PageEntry[], workspace: PageEntry[], unread: string, current: string, tools: import('../ui/menu.js').MenuItem[], nameWorkspace: () => void }} RailProps */

/** @param {RailProps} props */
function Rail({ work, workspace, unread, current, tools, nameWorkspace }) {
  const { email, me, isNowhere } = useStore(session);
  const trouble = troubleOf(me);
  const groups = [work, workspace].filter((group) => group.length > 0);
  return html`<header class="rail">
    ${isNowhere
      ? html`<p class="brand"><span class="brand-mark" aria-hidden="true"></span>Linklet</p>`
      : html`<${WorkspaceSwitcher} nameWorkspace=${nameWorkspace} />`}
    <nav aria-label="Pages">
      ${groups.map((group) => html`<ul>${group.map((page) => html`<li><${PageLink} page=${page} unread=${unread} current=${current} /></li>`)}</ul>`)}
    </nav>
    ${tools.map(({ label, icon, note, act }) => html`<button type="button" class="rail-item" onClick=${act}><${Icon} name=${icon} /><span class="rail-label">${label}</span><span class="menu-note" aria-hidden="true">${note}</span></button>`)}
    ${trouble && html`<a class="rail-item unconfirmed" href=${href('account')}><${Icon} name="warn" /><span class="rail-label">${trouble}</span></a>`}
    <${Menu} class="rail-item" align="start" isUp items=${accountItems()}>
      <${Icon} name="account" /><span class="rail-label">${email || 'Account'}</span>
    <//>
  </header>`;
}

/** Why mails don't reach the person, in short. @param {import('../core/session.js').Me} [me] */
function troubleOf(me) {
  if (me?.undeliverable) return 'Email is bouncing';
  return me?.verified === false && 'Confirm your email';
}

/** @param {RailProps} props */
function BottomBar({ work, workspace, unread, current, tools, nameWorkspace }) {
  const trouble = troubleOf(session.get().me);
  const items = [
    ...(trouble ? [{ label: trouble, icon: /** @type {const} */ ('warn'), href: href('account') }] : []),
    ...[...work.filter(({ isUnderMore }) => isUnderMore), ...workspace].map(({ title, icon, path: to }) => ({ group: 'Pages', label: title, icon, href: href(to) })),
    ...(session.get().isNowhere ? [] : workspaceItems(nameWorkspace).map((item) => ({ group: 'Workspaces', ...item }))),
    ...[{ ...tools[0], note: undefined }, ...accountItems()].map((item) => ({ group: 'Account', ...item })),
  ];
  return html`<nav class="bottom" aria-label="Pages">
    ${work.filter(({ isUnderMore }) => !isUnderMore).map((page) => html`<${PageLink} page=${page} unread=${unread} current=${current} />`)}
    <${Menu} class="rail-item" align="end" isUp items=${items}><${Icon} name="more" /><span class="rail-label">More</span><//>
  </nav>`;
}

/** @param {{ page: PageEntry, unread: string, current: string }} props */
function PageLink({ page, unread, current }) {
  const count = page.path === 'notifications' && unread;
  return html`<a class="rail-item" href=${href(page.path)} aria-current=${page.path === current ? 'page' : undefined}>
    <${Icon} name=${page.icon} /><span class="rail-label">${page.title}</span>${count && html`<span class="rail-count">${count}<span class="hidden"> new</span></span>`}
  </a>`;
}

const FIND = 'Find anything';

/** @type {import('../ui/menu.js').MenuItem[]} */
const LEAVING = [
  { label: 'API reference', icon: 'table', href: 'api/docs' },
  { label: 'Sign out', icon: 'out', act: () => signOut() },
];

/** @returns {import('../ui/menu.js').MenuItem[]} */
const accountItems = () => [{ label: 'Account', icon: 'account', href: href('account') }, ...LEAVING];
