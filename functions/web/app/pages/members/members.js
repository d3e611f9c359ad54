// Who belongs to the workspace, and who is invited.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { day } from '../../core/format.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { mayAct, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { KeepOrRemove, keepPaused, PausedMark, PausedNotice, pausedFirst } from '../../parts/paused/paused.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chips.js';
import { Card, Page } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { Table } from '../../parts/table/table.js';
import { Time } from '../../ui/time.js';
import { Invitations, useInvitations } from './invitations.js';
import { leave } from './leave.js';
import { RemoveMember } from './remove.js';
import { Role, ROLE_TEXTS } from './roles.js';

/** @typedef {import('../../core/lists.js').Member} Member */

export function MembersPage() {
  const { me } = useStore(session);
  const resource = useMembers();
  const [removed, setRemoved] = useState(/** @type {Member | undefined} */ (undefined));
  const isAdmin = me !== undefined && mayAct('admin');
  const invitations = useInvitations({ isWanted: isAdmin });
  return html`<${Page} title="Members">
    <${Loaded} of=${resource} what="Couldn’t load the members.">
      ${(/** @type {{ members: Member[] }} */ { members }) => html`
        ${isAdmin && html`<${PausedNotice} list=${members} what="member">${WHY_PAUSED}<//>`}
        <${Card} class="flush"><${MemberTable} members=${members} resource=${resource} isAdmin=${isAdmin} onRemove=${setRemoved} /><//>
        ${me && !isAdmin && html`<p class="muted"><${AskAdmins} members=${members} /></p>`}
        ${isAdmin && html`<${Invitations} members=${members} resource=${invitations} />`}
        ${!invitations.isLoading && html`<${Roles} />`}
      `}
    <//>
    ${removed && html`<${RemoveMember} member=${removed} onClose=${() => setRemoved(undefined)} />`}
  <//>`;
}

const WHY_PAUSED =
  'This workspace’s creator confirmed their email by resetting their password, and someone else may have let people in before. Keep or remove each one.';

/** Keeps a member who is paused. @param {Member} kept @param {import('../../core/resource.js').Resource<{ members: Member[] }>} resource */
function keep(kept, resource) {
  return keepPaused({
    kept,
    show: (paused_at) => resource.change(({ members }) => ({ members: members.map((one) => (one.user_id === kept.user_id ? { ...one, paused_at } : one)) })),
    send: () => call('PATCH /api/workspace/members/{user_id}', { path: { user_id: kept.user_id }, body: { paused: false } }),
    done: `${nameOf(kept)} is back in this workspace.`,
    failed: `${nameOf(kept)} is still paused.`,
  });
}

/** @param {{ members: Member[], resource: import('../../core/resource.js').Resource<{ members: Member[] }>, isAdmin: boolean, onRemove: (member: Member) => void }} props */
function MemberTable({ members, resource, isAdmin, onRemove }) {
  const { me } = session.get();
  const isLastAdmin = (/** @type {Member} */ member) => isActiveAdmin(member) && members.filter(isActiveAdmin).length === 1;
  const isMe = (/** @type {Member} */ member) => member.user_id === me?.user_id;
  const actions = (/** @type {Member} */ member) => {
    if (isMe(member)) {
      if (isLastAdmin(member)) return html`<span class="small-print">Only admin</span>`;
      return html`<${Button} class="compact" icon="out" onClick=${() => leave(members)}>Leave<//>`;
    }
    if (isAdmin && member.paused_at) {
      return html`<${KeepOrRemove} name=${nameOf(member)} removal="Remove" onKeep=${() => keep(member, resource)} onRemove=${() => onRemove(member)} />`;
    }
    return isAdmin && html`<${Button} kind="quiet" icon="trash" label=${`Remove ${nameOf(member)}`} onClick=${() => onRemove(member)} />`;
  };
  const columns = [
    { label: 'Person', isHeader: true, cell: (/** @type {Member} */ member) => html`<${Person} member=${member} isMe=${isMe(member)} />` },
    { label: 'Role', cell: (/** @type {Member} */ member) => html`<${Role} member=${member} resource=${resource} isFixed=${!isAdmin || isLastAdmin(member) || member.paused_at !== null} isMe=${isMe(member)} />` },
    { label: 'Joined', isMinor: true, cell: (/** @type {Member} */ member) => html`<${Time} at=${member.joined_at}>${day(member.joined_at)}<//>` },
    { label: 'Actions', isHidden: true, isNumber: true, cell: actions },
  ];
  const classOf = (/** @type {Member} */ member) => (isAdmin && member.paused_at ? 'to-decide' : '');
  return html`<${Table} isStacked label="Members" columns=${columns} rows=${pausedFirst(members)} keyOf=${(/** @type {Member} */ member) => member.user_id} classOf=${classOf} />`;
}

/** @param {Member} member */
const isActiveAdmin = (member) => member.role === 'admin' && !member.paused_at;

/** @param {{ member: Member, isMe: boolean }} props */
function Person({ member, isMe }) {
  return html`<span class="line-text">
    <span class="row"><bdi class="line-title">${nameOf(member)}</bdi>${isMe && html` <${Chip}>You<//>`} <${PausedMark} at=${member.paused_at} /></span>
    ${member.full_name && html`<bdi class="small-print">${member.email}</bdi>`}
  </span>`;
}

/** @param {{ members: Member[] }} props */
function AskAdmins({ members }) {
  const admins = members.filter(isActiveAdmin);
  const names = new Intl.ListFormat(undefined, { type: 'disjunction' }).formatToParts(admins.map(nameOf));
  return html`To invite someone or change a role, ask ${names.map(({ type, value }) => (type === 'element' ? html`<bdi>${value}</bdi>` : value))}.`;
}

function Roles() {
  return html`<${Card} title="What each role can do">
    <dl class="fact-list">
      ${ROLE_TEXTS.map(({ role, text }) => html`<div key=${role}><dt>${role}</dt><dd>${text}</dd></div>`)}
    </dl>
  <//>`;
}
