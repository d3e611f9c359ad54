// API keys: what programs use instead of a password.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call, readAll } from '../../core/api.js';
import { age, day, fullTime } from '../../core/format.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { href } from '../../core/router.js';
import { invalidate, useResource } from '../../core/resource.js';
import { mayAct, session } from '../../core/session.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { useStore } from '../../core/store.js';
import { KeepOrRemove, keepPaused, PausedMark, PausedNotice, pausedFirst } from '../../parts/paused/paused.js';
import { Button } from '../../ui/button.js';
import { Chip, Status } from '../../ui/chips.js';
import { ask } from '../../ui/dialog.js';
import { Card, Page } from '../../ui/page.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../parts/table/table.js';
import { Time } from '../../ui/time.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { CreatedKey } from './created-key.js';
import { Examples } from './examples.js';
import { KeyForm } from './key-form.js';
import { RenameKey } from './rename-key.js';

/** @typedef {{ prefix: string, name: string, scopes: string[], created_by: string, created_at: string, expires_at: string | null, last_used_at: string | null, is_active: boolean, paused_at: string | null, rotated_to: string | null }} ApiKey */

const READ_EVERY_MS = 30_000;

export function KeysPage() {
  useStore(session);
  return mayAct('member') ? html`<${Keys} />` : html`<${ForMembers} />`;
}

function ForMembers() {
  return html`<${Page} title="API keys">
    <${Empty} title="Only members can create API keys" action=${html`<${Button} href=${href('members')}>View members<//>`}>
      Programs use API keys to work with this workspace’s links. Ask an admin to make you a member.
    <//>
  <//>`;
}

function Keys() {
  const resource = useResource('keys', () => readAll('keys', 'GET /api/keys'), { everyMs: READ_EVERY_MS });
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState(/** @type {import('./created-key.js').NewKey | undefined} */ (undefined));
  const opener = useRef(/** @type {Element | null} */ (null));
  const create = () => {
    opener.current = document.activeElement;
    setCreating(true);
  };
  useShortcuts('API keys', [{ keys: 'c', text: 'Create a key', act: create }]);

  // Two dialogs follow each other, so the second doesn't know where the focus was.
  useEffect(() => (created ? () => focusAgain(opener.current) : undefined), [created]);

  const onCreated = (/** @type {import('./created-key.js').NewKey} */ key) => {
    setCreating(false);
    setCreated(key);
    invalidate('keys');
  };
  const isEmpty = resource.data?.keys.length === 0;
  const action = html`<${Button} kind="primary" icon="plus" onClick=${create}>New key<//>`;
  return html`<${Page} title="API keys" actions=${!resource.isLoading && !isEmpty && action}>
    <${Loaded} of=${resource} what="Couldn’t load the keys.">
      ${(/** @type {{ keys: ApiKey[] }} */ { keys }) =>
        keys.length === 0
          ? html`<${Empty} title="No keys yet" action=${action}>Programs use API keys to work with this workspace’s links, without anyone’s password.<//>`
          : html`<p class="muted">${mayAct('admin') ? 'These are all members’ keys.' : 'These are your keys. Admins see them too.'} A key acts on behalf of the member who created it.</p>
              <${PausedNotice} list=${keys} what="key">${WHY_PAUSED}<//>
              <${Card} class="flush"><${KeyTable} keys=${keys} resource=${resource} onRotated=${onCreated} /><//>`}
    <//>
    ${!resource.isLoading && html`<${Examples} />`}
    ${isCreating && html`<${KeyForm} onClose=${() => setCreating(false)} onCreated=${onCreated} />`}
    ${created && html`<${CreatedKey} created=${created} onClose=${() => setCreated(undefined)} />`}
  <//>`;
}

/** @param {Element | null} element */
function focusAgain(element) {
  const isThere = element?.isConnected && element !== document.body;
  /** @type {HTMLElement | null} */ (isThere ? element : document.querySelector('main h1'))?.focus();
}

const WHY_PAUSED =
  'An admin paused the key, or its creator or this workspace’s creator confirmed their email by resetting their password, and someone else may have created keys before. Keep or revoke each one.';

/** Keeps a key that is paused. @param {ApiKey} kept @param {KeyList} resource */
function keep(kept, resource) {
  return keepPaused({
    kept,
    show: (paused_at) => resource.change(({ keys }) => ({ keys: keys.map((one) => (one.prefix === kept.prefix ? { ...one, paused_at } : one)) })),
    send: () => call('PATCH /api/keys/{prefix}', { path: { prefix: kept.prefix }, body: { is_active: true } }),
    done: `“${kept.name}” works again within a minute.`,
    failed: `“${kept.name}” is still paused.`,
  });
}

/** Pauses a key, which an admin can let work again at any time. @param {ApiKey} paused */
async function pause(paused) {
  const question = { title: `Pause “${paused.name}”?`, text: 'It stops working within a minute, until you keep it again.', action: 'Pause' };
  if (!(await ask(question))) return;
  try {
    await call('PATCH /api/keys/{prefix}', { path: { prefix: paused.prefix }, body: { is_active: false } });
    toast(`“${paused.name}” is paused.`);
  } catch (error) {
    toastFailure('Couldn’t pause the key.', error);
  }
  invalidate('keys');
}

/** @typedef {import('../../core/resource.js').Resource<{ keys: ApiKey[] }>} KeyList */

/** @param {{ keys: ApiKey[], resource: KeyList, onRotated: (key: import('./created-key.js').NewKey) => void }} props */
function KeyTable({ keys, resource, onRotated }) {
  const members = useMembers().data?.members ?? [];
  const [renamed, setRenamed] = useState(/** @type {ApiKey | undefined} */ (undefined));
  const maker = (/** @type {ApiKey} */ key) => nameOf(members.find((/** @type {any} */ member) => member.user_id === key.created_by));
  const columns = [
    { label: 'Name', isHeader: true, cell: (/** @type {ApiKey} */ key) => html`<${KeyName} shown=${key} />` },
    { label: 'Permissions', cell: (/** @type {ApiKey} */ key) => html`<span class="chips">${key.scopes.map((scope) => html`<${Chip} key=${scope}>${scope}<//>`)}</span>` },
    { label: 'Created', isMinor: true, cell: (/** @type {ApiKey} */ key) => html`<${Time} at=${key.created_at}>${day(key.created_at)}<//><br /><bdi class="small-print">${maker(key)}</bdi>` },
    { label: 'Last used', isMinor: true, cell: (/** @type {ApiKey} */ key) => html`<${LastUsed} at=${key.last_used_at} />` },
    { label: 'Expires', isMinor: true, cell: (/** @type {ApiKey} */ key) => html`<${Ends} at=${key.expires_at} />` },
    { label: 'Actions', isHidden: true, isNumber: true, cell: (/** @type {ApiKey} */ key) => html`<${Actions} of=${key} resource=${resource} onRename=${() => setRenamed(key)} onRotated=${onRotated} />` },
  ];
  const classOf = (/** @type {ApiKey} */ key) => (key.paused_at ? 'to-decide' : '');
  return html`<${Table} isStacked label="API keys" columns=${columns} rows=${pausedFirst(keys)} keyOf=${(/** @type {ApiKey} */ key) => key.prefix} classOf=${classOf} />
    ${renamed && html`<${RenameKey} of=${renamed} onClose=${() => setRenamed(undefined)} />`}`;
}

/** @param {{ shown: ApiKey }} props */
const KeyName = ({ shown }) => html`<span class="row"><bdi class="line-title">${shown.name}</bdi><${PausedMark} at=${shown.paused_at} />${shown.rotated_to && html`<${Status} tone="muted" title=${`Replaced by ${shown.rotated_to}…`}>Rotated<//>`}</span><code class="small-print">${shown.prefix}…</code>
  <span class="small-print only-phone"><${LastUsed} at=${shown.last_used_at} isSentence /> · ${shown.expires_at ? `expires ${day(shown.expires_at)}` : 'never expires'}</span>`;

/** @param {{ at: string | null, isSentence?: boolean }} props */
function LastUsed({ at, isSentence = false }) {
  if (!at) return html`<span class="muted">${isSentence ? 'Never used' : 'Never'}</span>`;
  const ago = age(at) === 'now' ? 'just now' : `${age(at)} ago`;
  return html`<${Time} at=${at}>${isSentence ? `Used ${ago}` : ago}<//>`;
}

/** @param {{ at: string | null }} props */
function Ends({ at }) {
  if (!at) return html`<span class="muted">Never</span>`;
  if (new Date(at) <= new Date()) return html`<${Status} tone="muted" title=${fullTime(at)}>Expired<//>`;
  return html`<${Time} at=${at}>${day(at)}<//>`;
}

/** @param {{ of: ApiKey, resource: KeyList, onRename: () => void, onRotated: (key: import('./created-key.js').NewKey) => void }} props */
function Actions({ of: key, resource, onRename, onRotated }) {
  const onRevoke = () => revoke(key);
  if (key.paused_at) return html`<${KeepOrRemove} name=${key.name} removal="Revoke" onKeep=${() => keep(key, resource)} onRemove=${onRevoke} />`;
  return html`<span class="decision">
    <${Button} kind="quiet" icon="edit" label=${`Rename ${key.name}`} onClick=${onRename} />
    <${Button} kind="quiet" icon="power" label=${`Pause ${key.name}`} onClick=${() => pause(key)} />
    ${mayRotate(key) && html`<${Button} kind="quiet" icon="refresh" label=${`Rotate ${key.name}`} onClick=${() => rotate(key, onRotated)} />`}
    <${Button} kind="quiet" icon="trash" label=${`Revoke ${key.name}`} onClick=${onRevoke} />
  </span>`;
}

/** @param {ApiKey} key */
const isOver = ({ expires_at }) => Boolean(expires_at) && new Date(/** @type {string} */ (expires_at)) <= new Date();

/** Whoever rotates a key sees the new one, which acts in the name of its creator. @param {ApiKey} key */
const mayRotate = (key) => !key.rotated_to && !isOver(key) && key.created_by === session.get().me?.user_id;

/** Replaces a key by another one, which is shown once. @param {ApiKey} rotated @param {(key: import('./created-key.js').NewKey) => void} onRotated */
async function rotate(rotated, onRotated) {
  const question = {
    title: `Rotate “${rotated.name}”?`,
    text: 'You get a new key with the same permissions. The old one works for another 24 hours, unless it expires sooner. Revoking either revokes both.',
    action: 'Rotate',
  };
  if (!(await ask(question))) return;
  try {
    onRotated(await call('POST /api/keys/{prefix}/rotate', { path: { prefix: rotated.prefix } }));
  } catch (error) {
    toastFailure('Couldn’t rotate the key.', error);
  }
}

/** @param {ApiKey} revoked */
async function revoke(revoked) {
  const used = revoked.last_used_at ? `It was last used ${age(revoked.last_used_at) === 'now' ? 'a moment ago' : `${age(revoked.last_used_at)} ago`}.` : 'It was never used.';
  const both = revoked.rotated_to ? 'Its replacement is revoked too.' : '';
  const refused = revoked.paused_at ? 'It’s already paused.' : 'It stops working within a minute.';
  const question = {
    title: `Revoke “${revoked.name}”?`,
    text: [used, refused, both, 'This can’t be undone.'].filter(Boolean).join(' '),
    action: 'Revoke',
    isDanger: true,
  };
  if (!(await ask(question))) return;
  try {
    await call('DELETE /api/keys/{prefix}', { path: { prefix: revoked.prefix } });
    toast(`“${revoked.name}” is revoked.`);
  } catch (error) {
    toastFailure('Couldn’t revoke the key.', error);
  }
  invalidate('keys');
}
