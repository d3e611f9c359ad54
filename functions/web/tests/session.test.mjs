import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { call } = await import('../app/core/api.js');
const { navigate, route } = await import('../app/core/router.js');
const { currentWorkspace, mayAct, otherWorkspace, refreshMe, session, signIn, signInAgain } = await import('../app/core/session.js');
const { workspaceItems } = await import('../app/frame/workspaces.js');
const { closeWorkspace, createWorkspace, joinWorkspace } = await import('../app/parts/ways/ways.js');

const login = (token) => ({ body: { token, expires_at: '2126-01-01T00:00:00.000Z' } });
const me = (workspace_id, role) => ({ body: { user_id: 'u', email: 'ada@example.com', workspace_id, role } });
const workspace = (name, more = {}) => ({ workspace_id: name, name, slug: name, role: 'admin', paused_at: null, closed_at: null, restorable_until: null, ...more });
const mine = (...workspaces) => ({ body: { workspaces } });
const kept = () => JSON.parse(sessionStorage.getItem('linklet:session:/_aws/execute-api/c0ffee00/'));

test('after signing in, the token says the workspace, and the role what is allowed', async () => {
  answering(login('one'), me('fjord', 'member'), mine(workspace('harbour'), workspace('fjord')));

  await signIn('ada@example.com', 'secret');

  assert.equal(currentWorkspace().slug, 'fjord');
  assert.deepEqual([session.get().isNowhere, mayAct('viewer'), mayAct('member'), mayAct('admin')], [false, true, true, false]);
  assert.deepEqual([kept().slug, kept().isNowhere], ['fjord', false]);
});

test('who is in no workspace may do nothing, also after a reload', async () => {
  answering(login('two'), me(null, null), mine(workspace('fjord', { paused_at: '2026-11-12T11:25:00.000Z' })));

  await signIn('ada@example.com', 'secret');

  assert.equal(currentWorkspace(), undefined);
  assert.deepEqual([session.get().isNowhere, mayAct('viewer')], [true, false]);
  assert.deepEqual([kept().slug, kept().isNowhere], [undefined, true]);
});

test('the switcher says how long a closed workspace can be brought back', async () => {
  const closed = (hours) => workspace(`${hours}`, { closed_at: '2026-11-12T11:25:00.000Z', restorable_until: new Date(Date.now() + hours * 3_600_000).toISOString() });
  answering(login('three'), me('fjord', 'admin'), mine(workspace('fjord'), closed(160), closed(25), closed(2), closed(-1)));

  await signIn('ada@example.com', 'secret');

  const notes = workspaceItems(() => {}).map(({ note }) => note);
  assert.deepEqual(notes, ['admin', 'Closed, 7 days left', 'Closed, 2 days left', 'Closed, less than a day left', 'Closed', undefined]);
});

test('an invitation leads into its workspace', async () => {
  const requests = answering({ body: { slug: 'harbour', name: 'Harbour' } }, login('three'), me('harbour', 'viewer'), mine(workspace('harbour')));

  assert.equal(await joinWorkspace('inv_0'), 'Harbour');

  assert.deepEqual([requests[0].body, requests[1].body], ['{"token":"inv_0"}', '{"workspace":"harbour"}']);
  assert.deepEqual([session.get().isNowhere, mayAct('viewer'), kept().slug, kept().isNowhere], [false, true, 'harbour', false]);
});

test('an answer that says so is enough to be in no workspace', async () => {
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
  await createWorkspace('Fjord');
  answer(new Response(JSON.stringify({ code: 'no_workspace', detail: 'none' }), { status: 403 }));

  assert.equal(await late, 'no_workspace');
  assert.equal(session.get().isNowhere, false);
});

test('a workspace is made once, however often that is tried', async () => {
  answering(login('seven'), me('fjord', 'admin'), mine(workspace('fjord')));
  await signIn('ada@example.com', 'secret');
  const failing = answering(new TypeError('fetch failed'), { body: { slug: 'harbour' } }, { status: 503, body: { code: 'unavailable', detail: 'no' } });
  await assert.rejects(createWorkspace('Harbour'));
  await assert.rejects(createWorkspace('Harbour'));
  const working = answering({ body: { slug: 'harbour' } }, login('eight'), me('harbour', 'admin'), mine(workspace('harbour')));
  await createWorkspace('Harbour');
  const other = answering({ body: { slug: 'harbour-2' } }, login('nine'), me('harbour-2', 'admin'), mine(workspace('harbour-2')));
  await createWorkspace('Harbour');

  const keys = [failing[0], failing[1], working[0], other[0]].map((request) => request.headers['Idempotency-Key']);
  assert.equal(new Set(keys.slice(0, 3)).size, 1, 'the same attempt');
  assert.notEqual(keys[3], keys[0], 'another workspace of the same name');
});

test('who goes on sends the password once, and comes back to the same workspace', async () => {
  answering(login('ten'), me('harbour', 'admin'), mine(workspace('harbour'), workspace('fjord')));
  await signIn('ada@example.com', 'secret');

  const wrong = answering({ status: 401, body: { code: 'invalid_credentials', detail: 'invalid credentials' } });
  await assert.rejects(signInAgain('not my password'), { code: 'invalid_credentials' });
  assert.equal(wrong.length, 1);
  const right = answering(login('fjords'), login('harbours'), me('harbour', 'admin'), mine(workspace('harbour'), workspace('fjord')));
  await signInAgain('secret');

  assert.equal(right[0].body, '{"email":"ada@example.com","password":"secret"}');
  assert.deepEqual([right[1].body, right[1].headers.Authorization], ['{"workspace":"harbour"}', 'Bearer fjords']);
  assert.deepEqual([kept().token, kept().slug], ['harbours', 'harbour']);
});

test('who was removed from the workspace meanwhile goes on in another one', async () => {
  answering(login('eleven'), me('harbour', 'admin'), mine(workspace('harbour'), workspace('fjord')));
  await signIn('ada@example.com', 'secret');
  const gone = { status: 404, body: { code: 'workspace_not_found', detail: 'this workspace does not exist' } };
  answering(login('twelve'), gone, me('fjord', 'member'), mine(workspace('fjord')));

  await signInAgain('secret');

  assert.deepEqual([kept().token, currentWorkspace().slug], ['twelve', 'fjord']);
});

// -- staying signed in

const tokenOf = (sub, ws, number) => ['e30', Buffer.from(JSON.stringify({ sub, ws, number, email: `${sub}@example.com` })).toString('base64url'), 'c2ln'].join('.');
const refreshed = (...claims) => ({ body: { token: tokenOf(...claims), expires_at: new Date(Date.now() + 3_600_000).toISOString() } });
const ended = { status: 401, body: { code: 'unauthorized', detail: 'unauthorized' } };
const paths = (requests) => requests.map(({ url }) => new URL(url).pathname.split('/c0ffee00')[1]);
const isMarked = () => localStorage.getItem('linklet:remembered:/_aws/execute-api/c0ffee00/') !== null;

async function stayingSignedIn() {
  const requests = answering(refreshed('ada', 'fjord', 1), me('fjord', 'admin'), mine(workspace('fjord')));
  await signIn('ada@example.com', 'secret', true);
  return requests;
}

test('signing in to stay says so, and other requests have no cookie', async () => {
  const requests = await stayingSignedIn();

  assert.equal(JSON.parse(requests[0].body).remember, true);
  assert.deepEqual(requests.map(({ credentials }) => credentials), ['same-origin', 'omit', 'omit']);
  assert.deepEqual([kept().isRemembered, isMarked()], [true, true]);
});

test('a refused token is renewed, and its request is repeated', async () => {
  await stayingSignedIn();
  const requests = answering(ended, refreshed('ada', 'fjord', 2), { body: { links: [] } });

  await call('GET /api/links');

  assert.deepEqual(paths(requests), ['/api/links', '/api/auth/refresh', '/api/links']);
  assert.equal(requests[1].body, '{"workspace":"fjord"}');
  assert.equal(requests[1].credentials, 'same-origin');
  assert.equal(requests[2].headers.Authorization, `Bearer ${tokenOf('ada', 'fjord', 2)}`);
  assert.equal(session.get().status, 'in');
});

test('a renewal without an answer is repeated, and a lost connection ends no session', async () => {
  await stayingSignedIn();
  const lost = answering(ended, new TypeError('fetch failed'), refreshed('ada', 'fjord', 2), { body: {} });
  await call('GET /api/links');
  assert.deepEqual(paths(lost).slice(1, 3), ['/api/auth/refresh', '/api/auth/refresh']);

  answering(ended, new TypeError('fetch failed'), new TypeError('fetch failed'));
  await assert.rejects(call('GET /api/links'), { kind: 'offline' });

  assert.deepEqual([session.get().status, isMarked()], ['in', true]);
});

test('a session that cannot be renewed asks for the password and is renewable again', async () => {
  await stayingSignedIn();
  answering(ended, ended);
  const waiting = call('GET /api/links');
  await new Promise((done) => setTimeout(done));
  assert.deepEqual([session.get().status, isMarked()], ['over', false]);

  const requests = answering(refreshed('ada', 'fjord', 3), refreshed('ada', 'fjord', 4), me('fjord', 'admin'), mine(workspace('fjord')));
  await signInAgain('secret');
  await waiting;

  assert.equal(JSON.parse(requests[0].body).remember, true);
  assert.deepEqual([session.get().status, isMarked(), kept().isRemembered], ['in', true, true]);
});

test('a cookie of somebody else renews nothing here', async () => {
  await stayingSignedIn();
  answering(ended, refreshed('bob', 'harbour', 1));
  call('GET /api/links').catch(() => {});
  await new Promise((done) => setTimeout(done, 5));

  assert.equal(session.get().status, 'over');
});

test('who was removed goes on in another workspace, without repeating the request there', async () => {
  await stayingSignedIn();
  const { removals = 0 } = session.get();
  const requests = answering(ended, refreshed('ada', 'harbour', 2), me('harbour', 'admin'), mine(workspace('harbour')));

  await assert.rejects(call('POST /api/shorten', { body: {} }), { code: 'signed_out' });
  await new Promise((done) => setTimeout(done, 5));

  assert.deepEqual(paths(requests).filter((path) => path === '/api/shorten').length, 1);
  assert.deepEqual([currentWorkspace().slug, session.get().removals, session.get().lost], ['harbour', removals + 1, 'fjord']);
  assert.equal(route.get().path, 'links');
});

test('who goes to another workspace is at an address of it', async () => {
  await stayingSignedIn();
  answering({ body: { slug: 'harbour', name: 'Harbour' } }, refreshed('ada', 'harbour', 3), me('harbour', 'viewer'), mine(workspace('harbour')));

  await joinWorkspace('inv_0');

  assert.equal(location.hash, '#/w/harbour/links');
  assert.deepEqual([route.get().workspace, route.get().parts], ['harbour', ['links']]);
});

test('a workspace that is called otherwise keeps its view, at its new address', async () => {
  await stayingSignedIn();
  navigate('#/w/fjord/settings?job=1');
  answering(me('fjord', 'admin'), mine({ ...workspace('fjord'), slug: 'fjord-2' }));

  await refreshMe();

  assert.deepEqual([session.get().slug, location.hash], ['fjord-2', '#/w/fjord-2/settings?job=1']);
});

// -- closing the workspace

const closed = { closed_at: '2026-11-12T11:25:00.000Z', restorable_until: '2026-11-19T11:25:00.000Z' };

test('another workspace to be in is one that is neither paused nor closed', async () => {
  const others = [workspace('paused', { paused_at: closed.closed_at }), workspace('closed', closed)];
  answering(login('nine'), me('fjord', 'admin'), mine(...others, workspace('fjord')));
  await signIn('ada@example.com', 'secret');
  assert.equal(otherWorkspace(), undefined);

  answering(login('ten'), me('fjord', 'admin'), mine(...others, workspace('fjord'), workspace('harbour')));
  await signIn('ada@example.com', 'secret');
  assert.equal(otherWorkspace().slug, 'harbour');
});

test('who closes their workspace has asked for the way into another one before', async () => {
  await stayingSignedIn();
  const requests = answering(refreshed('ada', 'harbour', 5), { status: 202, body: closed }, me('harbour', 'admin'), mine(workspace('fjord', closed), workspace('harbour')));

  assert.deepEqual(await closeWorkspace({ slug: 'fjord', password: 'secret' }, 'harbour'), closed);

  assert.deepEqual(paths(requests), ['/api/auth/switch', '/api/workspace', '/api/me', '/api/me/workspaces']);
  assert.deepEqual([requests[1].method, requests[1].body], ['DELETE', '{"slug":"fjord","password":"secret"}']);
  assert.equal(requests[1].headers.Authorization, `Bearer ${tokenOf('ada', 'fjord', 1)}`);
  assert.equal(currentWorkspace().slug, 'harbour');
});

test('who closes their only workspace is in none, and goes on without signing in', async () => {
  for (const [remember, path] of [[true, '/api/auth/refresh'], [false, '/api/auth/login']]) {
    answering(refreshed('ada', 'fjord', 1), me('fjord', 'admin'), mine(workspace('fjord')));
    await signIn('ada@example.com', 'secret', remember);
    const requests = answering({ status: 202, body: closed }, refreshed('ada', null, 2), me(null, null), mine(workspace('fjord', closed)));

    await closeWorkspace({ slug: 'fjord', password: 'secret' });

    assert.deepEqual(paths(requests).slice(0, 2), ['/api/workspace', path]);
    assert.deepEqual([session.get().status, session.get().isNowhere, location.hash], ['in', true, '#/links']);
  }
});

test('a wrong password closes nothing and moves nobody', async () => {
  await stayingSignedIn();
  answering(refreshed('ada', 'harbour', 5), { status: 401, body: { code: 'invalid_credentials', detail: 'no' } });

  await assert.rejects(closeWorkspace({ slug: 'fjord', password: 'wrong' }, 'harbour'), { code: 'invalid_credentials' });

  assert.deepEqual([session.get().status, currentWorkspace().slug], ['in', 'fjord']);
});

test('a closed workspace stays closed when leaving it fails, and the password leads on', async () => {
  answering(login('eleven'), me('fjord', 'admin'), mine(workspace('fjord')));
  await signIn('ada@example.com', 'secret');
  answering({ status: 202, body: closed }, { status: 503, body: { code: 'service_unavailable', detail: 'no' } });

  assert.deepEqual(await closeWorkspace({ slug: 'fjord', password: 'secret' }), closed);

  assert.equal(session.get().status, 'over');
});
