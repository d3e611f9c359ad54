import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { ACTIONS, sentenceOf } = await import('../app/parts/audit-log/words.js');

/** What stands on the page, as far as components without a state draw it. */
function drawn(node) {
  if (Array.isArray(node)) return node.map(drawn).join('');
  if (node === null || node === undefined || typeof node === 'boolean') return '';
  if (typeof node !== 'object') return String(node);
  return drawn(typeof node.type === 'function' ? node.type(node.props) : node.props.children);
}

const known = { personName: (/** @type {string} */ id) => `person ${id}`, isThere: (/** @type {any} */ { id }) => id === 'here' };
const words = (/** @type {any} */ entry) => drawn(sentenceOf({ subject: null, from: null, to: null, ...entry }, known));

test('an activity names its action, its subject and what that was before', () => {
  const bob = { kind: 'member', id: '7' };
  assert.equal(words({ action: 'member.role_changed', subject: bob, from: 'member', to: 'admin' }), 'Changed the role of person 7 from member to admin');
  assert.equal(words({ action: 'member.removed', subject: { ...bob, name: 'Bob' } }), 'Removed Bob');
  assert.equal(words({ action: 'invitation.created', subject: { kind: 'invitation', id: 'i' }, to: 'admin' }), 'Invited someone as an admin');
  assert.equal(words({ action: 'workspace.changed', from: 'name: Fjord', to: 'name: Fjord Studio' }), 'Changed the workspace from “name: Fjord” to “name: Fjord Studio”');
  assert.equal(words({ action: 'key.revoked', subject: { kind: 'key', id: 'lk_live_Tq8ZbR2m' } }), 'Revoked the API key lk_live_Tq8ZbR2m');
  const [ada, grace] = ['019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a21', '019adcb1-5a4e-7c11-9d2f-0b6c8f3e7a22'];
  assert.equal(words({ action: 'key.kept', subject: { kind: 'key', id: 'k', name: 'Export' }, from: ada, to: grace }), `Kept the API key “Export” from person ${ada} to person ${grace}`);
  assert.equal(words({ action: 'job.finished', subject: { kind: 'job', id: 'j' }, to: 'done' }), 'Finished a job: done');
  const told = { from: 'purge links with their statistics', to: 'done: 4,998 links changed, 2 failed' };
  assert.equal(words({ action: 'job.finished', subject: { kind: 'job', id: 'j' }, ...told }), `Finished a job: ${told.from} – ${told.to}`);
  assert.equal(words({ action: 'link.changed', subject: { kind: 'link', id: 'tasting' }, from: 'max_clicks', to: 'max_clicks' }), 'Changed the link tasting: max clicks');
  assert.equal(words({ action: 'link.changed', subject: null, from: 'old' }), 'Changed the link something: no longer old');
  assert.equal(words({ action: 'workspace.changed', from: 'settings', to: 'settings' }), 'Changed the workspace: settings');
});

test('what nobody has words for is shown as it is', () => {
  assert.equal(words({ action: 'link.cloned', from: 'a', to: 'b' }), 'link.cloned from a to b');
  assert.equal(words({ action: 'constructor' }), 'constructor');
});

test('each sentence begins with a capital letter, and none ends', () => {
  for (const sentence of Object.values(ACTIONS)) assert.match(sentence, /^[A-Z][^.]*[^. ]$/);
});

test('what is named leads to its page, unless it is gone', () => {
  const linkOf = (/** @type {string} */ action, /** @type {string} */ kind, /** @type {string} */ id) =>
    JSON.stringify(sentenceOf(/** @type {any} */ ({ action, subject: { kind, id }, from: null, to: null }), known).flatMap((part) => part?.type?.(part.props) ?? []));
  assert.match(linkOf('link.deleted', 'link', 'winter26'), /#\/links\/winter26/);
  assert.match(linkOf('key.changed', 'key', 'here'), /#\/keys/);
  assert.match(linkOf('member.paused', 'member', 'here'), /#\/members/);
  assert.doesNotMatch(linkOf('member.paused', 'member', 'gone'), /href/);
  for (const [action, kind] of [['link.purged', 'link'], ['target.deleted', 'target'], ['key.revoked', 'key']]) assert.doesNotMatch(linkOf(action, kind, 'here'), /href/);
});
