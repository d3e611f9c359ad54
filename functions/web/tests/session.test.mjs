import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { call } = await import('../app/core/api.js');
const { currentWorkspace, foundWorkspace, joinWorkspace, mayAct, session, signIn, signInAgain } = await import('../app/core/session.js');

const login = (token) => ({ body: { token, expires_at: '2126-01-01T00:00:00.000Z' } });
const me = (workspace_id, role) => ({ body: { user_id: 'u', email: 'ada@example.com', workspace_id, role } });
const workspace = (name, more = {}) => ({ workspace_id: name, name, slug: name, role: 'admin', ...more });
const mine = (...workspaces) => ({ body: { workspaces } });
const kept = () => JSON.parse(sessionStorage.getItem('linklet:session:/_aws/execute-api/c0ffee00/'));

test('who signs in is in the workspace of the token, and may do what their role allows', async () => {
  answering(login('one'), me('fjord', 'member'), mine(workspace('harbour'), workspace('fjord')));

  await signIn('ada@example.com', 'secret');

  assert.equal(currentWorkspace().slug, 'fjord');
  assert.deepEqual([session.get().isNowhere, mayAct('viewer'), mayAct('member'), mayAct('admin')], [false, true, true, false]);
  assert.deepEqual([kept().slug, kept().isNowhere], ['fjord', false]);
});

test('who is in no workspace may do nothing, and is known to be in none when the page is loaded again', async () => {
  answering(login('two'), me(null, null), mine(workspace('fjord', { paused_at: '2026-11-12T11:25:00.000Z' })));

  await signIn('ada@example.com', 'secret');

  assert.equal(currentWorkspace(), undefined);
  assert.deepEqual([session.get().isNowhere, mayAct('viewer')], [true, false]);
  assert.deepEqual([kept().slug, kept().isNowhere], [undefined, true]);
});

test('an invitation leads into its workspace', async () => {
  const requests = answering({ body: { slug: 'harbour', name: 'Harbour' } }, login('three'), me('harbour', 'viewer'), mine(workspace('harbour')));

  assert.equal(await joinWorkspace('inv_0'), 'Harbour');

  assert.deepEqual([requests[0].body, requests[1].body], ['{"token":"inv_0"}', '{"workspace":"harbour"}']);
  assert.deepEqual([session.get().isNowhere, mayAct('viewer'), kept().slug, kept().isNowhere], [false, true, 'harbour', false]);
});

test('an answer that says so is enough to know that one is in no workspace', async () => {
  // Nobody waits until it is tried again.
  const later = globalThis.setTimeout;
  globalThis.setTimeout = () => {};
  answering(login('four'), new TypeError('fetch failed'), new TypeError('fetch failed'));
  await signIn('ada@example.com', 'secret');
  assert.equal(session.get().isNowhere, false);

  answering({ status: 403, body: { code: 'no_workspace', detail: 'you are in no workspace' } });
  await assert.rejects(call('GET /api/links'), { code: 'no_workspace' });

  assert.deepEqual([session.get().isNowhere, kept().isNowhere], [true, true]);
  globalThis.setTimeout = later;
});

test('an answer to the session before is not about this one', async () => {
  answering(login('five'), me(null, null), mine());
  await signIn('ada@example.com', 'secret');
  let answer = () => {};
  globalThis.fetch = () => new Promise((resolve) => (answer = resolve));
  const late = call('GET /api/links').catch((error) => error.code);

  answering({ body: { slug: 'fjord' } }, login('six'), me('fjord', 'admin'), mine(workspace('fjord')));
  await foundWorkspace('Fjord');
  answer(new Response(JSON.stringify({ code: 'no_workspace', detail: 'none' }), { status: 403 }));

  assert.equal(await late, 'no_workspace');
  assert.equal(session.get().isNowhere, false);
});

test('a workspace is made once, however often that is tried', async () => {
  answering(login('seven'), me('fjord', 'admin'), mine(workspace('fjord')));
  await signIn('ada@example.com', 'secret');
  const failing = answering(new TypeError('fetch failed'), { body: { slug: 'harbour' } }, { status: 503, body: { code: 'unavailable', detail: 'no' } });
  await assert.rejects(foundWorkspace('Harbour'));
  await assert.rejects(foundWorkspace('Harbour'));
  const working = answering({ body: { slug: 'harbour' } }, login('eight'), me('harbour', 'admin'), mine(workspace('harbour')));
  await foundWorkspace('Harbour');
  const other = answering({ body: { slug: 'harbour-2' } }, login('nine'), me('harbour-2', 'admin'), mine(workspace('harbour-2')));
  await foundWorkspace('Harbour');

  const keys = [failing[0], failing[1], working[0], other[0]].map((request) => request.headers['Idempotency-Key']);
  assert.equal(new Set(keys.slice(0, 3)).size, 1, 'the same attempt');
  assert.notEqual(keys[3], keys[0], 'another workspace of the same name');
});

test('who goes on sends the password once, and comes back to the same workspace', async () => {
  answering(login('ten'), me('harbour', 'admin'), mine(workspace('harbour'), workspace('fjord')));
  await signIn('ada@example.com', 'secret', 'harbour');

  const wrong = answering({ status: 401, body: { code: 'invalid_credentials', detail: 'invalid credentials' } });
  await assert.rejects(signInAgain('not my password'), { code: 'invalid_credentials' });
  assert.equal(wrong.length, 1);
  const right = answering(login('fjords'), login('harbours'), me('harbour', 'admin'), mine(workspace('harbour'), workspace('fjord')));
  assert.equal(await signInAgain('secret'), true);

  assert.equal(right[0].body, '{"email":"ada@example.com","password":"secret"}');
  assert.deepEqual([right[1].body, right[1].headers.Authorization], ['{"workspace":"harbour"}', 'Bearer fjords']);
  assert.deepEqual([kept().token, kept().slug], ['harbours', 'harbour']);
});

test('who was removed from the workspace meanwhile goes on in another one', async () => {
  answering(login('eleven'), me('harbour', 'admin'), mine(workspace('harbour'), workspace('fjord')));
  await signIn('ada@example.com', 'secret', 'harbour');
  const gone = { status: 404, body: { code: 'workspace_not_found', detail: 'this workspace does not exist' } };
  answering(login('twelve'), gone, me('fjord', 'member'), mine(workspace('fjord')));

  assert.equal(await signInAgain('secret'), false);

  assert.deepEqual([kept().token, currentWorkspace().slug], ['twelve', 'fjord']);
});
