// Who has done what in the workspace, newest first.

import { html, useState } from '../../vendor/preact.js';
import { call, readAll } from '../../core/api.js';
import { beginningOf, dayIn, endOf } from '../../core/days.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { href, route, setQuery } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { AuditLog } from '../../parts/audit-log/audit-log.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chips.js';
import { DateFilter } from '../../parts/link-rows/date-filter.js';
import { Icon } from '../../ui/icons.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Menu } from '../../ui/menu.js';
import { Card, Page } from '../../ui/page.js';
import { toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {{ prefix: string, name: string }} Key */
/** What the address says. @typedef {{ what: string, who: string, from: string, to: string }} Filter `who` is the id of a person or the prefix of a key */

const KEPT_MONTHS = 13;
const NO_FILTER = { what: '', who: '', from: '', to: '' };

/** What can be chosen: actions that begin with the same word. */
const GROUPS = [
  { value: 'workspace', label: 'Workspace' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'key', label: 'API keys' },
  { value: 'link', label: 'Links' },
  { value: 'target', label: 'Monitoring' },
  { value: 'job', label: 'Jobs' },
];

export function ActivityPage() {
  const { query } = useStore(route);
  const { part, focusLater } = useLaterFocus();
  const filter = filterOf(query);
  const asked = { action: filter.what, actor: filter.who, from: beginningOf(filter.from), to: endOf(filter.to) };
  const isFiltered = Object.values(filter).some(Boolean);
  const read = (/** @type {string} */ after, /** @type {AbortSignal} */ signal) => call('GET /api/workspace/audit', { query: { ...asked, after }, signal });
  const linkOf = (/** @type {string} */ actor) => (actor === filter.who ? undefined : { href: href('activity', { ...filter, who: actor }), onClick: () => focusLater(IN_WHO) });
  const clear = () => {
    focusLater('button');
    setQuery(NO_FILTER);
  };
  return html`<${Page} title="Activity" actions=${html`<${Save} asked=${asked} />`}>
    <p class="muted">Changes to members, API keys and settings, and to other people’s links and monitored URLs, in the last ${KEPT_MONTHS} months.</p>
    <div class="chips" role="search" aria-label="Activity" ref=${part}>
      <${WhatFilter} what=${filter.what} />
      <${WhoFilter} who=${filter.who} focusLater=${focusLater} />
      <${DateFilter} label="Date" title="Date range" from=${filter.from} to=${filter.to} />
      ${isFiltered && html`<${Button} kind="quiet" class="compact" onClick=${clear}>Clear<//>`}
    </div>
    <${Card} class="flush">
      <${AuditLog}
        key=${JSON.stringify(asked)}
        resource=${isFiltered ? null : 'activity'}
        read=${read}
        label="Activity"
        linkOf=${linkOf}
        none=${isFiltered ? 'No activity matches these filters.' : 'No activity yet.'}
      />
    <//>
  <//>`;
}

/** Whom the API can be asked about. */
const WHO = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|lk_live_[0-9A-Za-z]{8}|operator|linklet)$/;

/** @param {URLSearchParams} query @returns {Filter} */
function filterOf(query) {
  const [what, who] = ['what', 'who'].map((name) => query.get(name) ?? '');
  return {
    what: GROUPS.some(({ value }) => value === what) ? what : '',
    who: WHO.test(who) ? who : '',
    from: dayIn(query.get('from')),
    to: dayIn(query.get('to')),
  };
}

/** @param {{ what: string }} props */
function WhatFilter({ what }) {
  const chosen = GROUPS.find(({ value }) => value === what);
  const items = GROUPS.map(({ value, label }) => ({ label, isCurrent: value === what, act: () => setQuery({ what: value === what ? '' : value }) }));
  return html`<${Menu} class=${`chip ${chosen ? 'on' : ''}`} align="start" items=${items}>${chosen?.label ?? 'Action'}<${Icon} name="down" /><//>`;
}

/** What is in the place of the second filter: its menu, or what takes it away again. */
const IN_WHO = ':scope > :nth-child(2) > button';

/** @param {{ who: string, focusLater: (selector: string) => void }} props */
function WhoFilter({ who, focusLater }) {
  const [isOpened, setOpened] = useState(false);
  const isWanted = isOpened || who !== '';
  const choose = (/** @type {string} */ id) => () => {
    focusLater(IN_WHO);
    setQuery({ who: id });
  };
  /** @type {Member[]} */
  const members = useMembers({ isWanted }).data?.members ?? [];
  /** @type {Key[]} */
  const keys = useResource(isWanted ? 'keys' : null, () => readAll('keys', 'GET /api/keys')).data?.keys ?? [];
  if (who) {
    const known = [...members.map((member) => ({ id: member.user_id, name: nameOf(member) })), ...keys.map(({ prefix, name }) => ({ id: prefix, name })), ...OTHERS];
    const name = known.find(({ id }) => id === who)?.name ?? (who.startsWith(KEY_PREFIX) ? who : nameOf(undefined));
    return html`<${Chip} tone="on" removeLabel="Show everyone’s activity" onRemove=${choose('')}>By <bdi>${name}</bdi><//>`;
  }
  const items = [
    ...members.map((member) => ({ key: member.user_id, label: nameOf(member), icon: /** @type {const} */ ('account'), act: choose(member.user_id) })),
    ...keys.map(({ prefix, name }) => ({ key: prefix, label: name, note: 'API key', icon: /** @type {const} */ ('key'), act: choose(prefix) })),
    ...OTHERS.map(({ id, name }) => ({ key: id, label: name, icon: /** @type {const} */ ('settings'), act: choose(id) })),
  ];
  return html`<${Menu} class="chip" align="start" items=${items} onOpen=${() => setOpened(true)}>Person<${Icon} name="down" /><//>`;
}

const KEY_PREFIX = 'lk_';

const OTHERS = [
  { id: 'linklet', name: 'Linklet' },
  { id: 'operator', name: 'Linklet operator' },
];

/** @param {{ asked: Record<string, string> }} props */
function Save({ asked }) {
  const [isBusy, setBusy] = useState(false);
  async function save() {
    setBusy(true);
    try {
      const { saveActivity } = await import('../../parts/download/download.js');
      await saveActivity(asked);
    } catch (error) {
      toastFailure('Couldn’t save the file.', error);
    } finally {
      setBusy(false);
    }
  }
  return html`<${Button} icon="save" isBusy=${isBusy} onClick=${save}>Download<//>`;
}
