import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { call } = await import('../app/core/api.js');
const { noteMe, refreshMe, session, signIn } = await import('../app/core/session.js');
const { closeAccount } = await import('../app/parts/ways/ways.js');
const { readFate } = await import('../app/pages/account/fates.js');

const me = { user_id: 'u', email: 'ada@example.com', workspace_id: 'fjord', role: 'admin' };
const fjord = { workspace_id: 'fjord', name: 'Fjord', slug: 'fjord', role: 'admin', paused_at: null, closed_at: null, restorable_until: null };
const harbour = { ...fjord, workspace_id: 'harbour', name: 'Harbour', slug: 'harbour' };
const token = { body: { token: 'eyJ.one', expires_at: '2126-01-01T00:00:00.000Z' } };
const refusal = (status, code) => ({ status, body: { code, detail: 'no' } });
const kept = () => JSON.parse(sessionStorage.getItem('linklet:session:/_aws/execute-api/c0ffee00/'));
const admin = { user_id: 'v', role: 'admin', paused_at: null };

async function enter() {
  answering(token, { body: me }, { body: { workspaces: [fjord, harbour] } });
  await signIn('ada@example.com', 'secret');
}

test('a changed address is that of the session and of the next sign-in', async () => {
  await enter();
  noteMe({ ...session.get().me, email: 'lovelace@example.com' });
  assert.deepEqual([session.get().email, kept().email], ['lovelace@example.com', 'lovelace@example.com']);

  // It was confirmed elsewhere.
  answering({ body: { ...me, email: 'countess@example.com' } }, { body: { workspaces: [fjord] } });
  await refreshMe();
  assert.deepEqual([session.get().email, kept().email], ['countess@example.com', 'countess@example.com']);
});

test('who has closed their account is signed out', async () => {
  await enter();
  const requests = answering({ status: 204 });
  await closeAccount('secret', false);
  assert.deepEqual([requests[0].method, requests[0].body], ['DELETE', '{"password":"secret"}']);
  assert.deepEqual([session.get().status, kept(), location.hash], ['out', null, '#/sign-in']);
});

test('an account that isn’t closed stays signed in', async () => {
  await enter();
  answering(refusal(401, 'invalid_credentials'), { status: 409, body: { code: 'last_admin', detail: 'no', workspace_id: 'fjord', workspace: 'Fjord' } });
  await assert.rejects(closeAccount('wrong', false), { code: 'invalid_credentials' });
  await assert.rejects(closeAccount('secret', true), ({ code, others }) => code === 'last_admin' && others.workspace === 'Fjord');
  assert.equal(session.get().status, 'in');
});

test('closing an account whose answer was lost has worked if the session is refused', async () => {
  await enter();
  answering(new TypeError('fetch failed'), refusal(401, 'unauthorized'));
  await assert.rejects(closeAccount('secret', false), { kind: 'offline' });
  await closeAccount('secret', true);
  assert.equal(session.get().status, 'out');
});

test('without a password, an account is closed by an earlier proof, and never taken for closed', async () => {
  await enter();
  const requests = answering(refusal(401, 'unauthorized'));
  await assert.rejects(closeAccount(undefined, true), { code: 'unauthorized' });
  assert.equal(session.get().status, 'in');
  assert.equal(requests[0].body, '{}');
  answering({ status: 204 });
  await closeAccount(undefined, false);
  assert.equal(session.get().status, 'out');
});

test('a workspace without others ends, with all that is in it', async () => {
  await enter();
  const requests = answering({ body: { members: [{ user_id: 'u', role: 'admin' }] } }, { body: { links: { total: 42, archived: 7 }, period: { total_clicks: 1_204, covers: { clicks: 1, of: 2 } }, incomplete: [] } });
  assert.deepEqual(await readFate(session.get().workspaces[0]), { kind: 'ends', links: 49, clicks: 1_204, isPart: true });
  const { searchParams } = new URL(requests[1].url, 'http://127.0.0.1');
  assert.equal(Date.parse(searchParams.get('to')) - Date.parse(searchParams.get('from')), 364 * 86_400_000);
});

test('another workspace is asked with its own token, and the session stays', async () => {
  await enter();
  const requests = answering({ body: { token: 'eyJ.other' } }, { body: { members: [{ user_id: 'u', role: 'member' }, admin] } }, { body: { total: 17 } });
  assert.deepEqual(await readFate(session.get().workspaces[1]), { kind: 'stays', links: 17 });
  assert.deepEqual(requests.map(({ headers }) => headers.Authorization), ['Bearer eyJ.one', 'Bearer eyJ.other', 'Bearer eyJ.other']);
  assert.match(requests[2].url, /created_by=u&status=all&archived=all/);
  answering({ body: {} });
  await call('GET /api/me');
  assert.equal(kept().token, 'eyJ.one');
});

test('a workspace whose other members are no admins, or paused ones, needs another admin', async () => {
  await enter();
  for (const other of [{ ...admin, role: 'member' }, { ...admin, paused_at: '2026-11-12T11:25:00.000Z' }]) {
    answering({ body: { members: [{ user_id: 'u', role: 'admin' }, other] } });
    assert.deepEqual(await readFate(session.get().workspaces[0]), { kind: 'needs' });
  }
});
