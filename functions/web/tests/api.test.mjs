import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { answering } from './browser.mjs';

const { ApiError, call, identity, readAll } = await import('../app/core/api.js');
const { connection } = await import('../app/core/connection.js');

const problem = (status, code, more = {}) => ({ status, body: { code, detail: 'not so', ...more }, headers: { 'x-correlation-id': 'walk-1' } });

afterEach(() => {
  identity.token = () => undefined;
  identity.renew = () => Promise.reject(new Error('nobody is signed in'));
});

test('an operation is called below the address of the page, with its parameters encoded', async () => {
  const requests = answering({ body: { links: [] } });

  await call('GET /api/links/{code}', { path: { code: 'a/b' }, query: { tag: ['a b', 'c'], q: '', page: 2, none: undefined } });

  assert.equal(requests[0].url, 'http://127.0.0.1:4566/_aws/execute-api/c0ffee00/api/links/a%2Fb?tag=a+b&tag=c&page=2');
  assert.equal(requests[0].headers.Authorization, undefined);
});

test('the token, the body and the idempotency key are sent', async () => {
  const requests = answering({ status: 201, body: { short_code: 'abcd' } });
  identity.token = () => 'secret';

  const made = await call('POST /api/shorten', { body: { url: 'https://example.com' }, idempotencyKey: 'k1' });

  assert.equal(made.short_code, 'abcd');
  assert.deepEqual(requests[0].headers, { Accept: 'application/json', Authorization: 'Bearer secret', 'Content-Type': 'application/json', 'Idempotency-Key': 'k1' });
});

test('a list is read to its last page', async () => {
  const page = (keys, next_cursor) => ({ body: { keys, next_cursor, has_more: next_cursor !== null } });
  const requests = answering(page(['a', 'b'], 'x.y'), page([], 'z'), page(['c'], null));
  assert.deepEqual(await readAll('keys', 'GET /api/keys'), { keys: ['a', 'b', 'c'], next_cursor: null, has_more: false });
  assert.deepEqual(requests.map(({ url }) => url.split('/api')[1]), ['/keys', '/keys?after=x.y', '/keys?after=z']);
});

test('an answer without a body is nothing', async () => {
  answering({ status: 204 });

  assert.equal(await call('DELETE /api/links/{code}', { path: { code: 'abcd' } }), null);
});

test('a problem names the field to blame and what to tell the operator', async () => {
  answering(problem(400, 'invalid_input', { field: 'url' }));

  await assert.rejects(call('POST /api/shorten', { body: {} }), (error) => {
    assert(error instanceof ApiError);
    assert.deepEqual([error.kind, error.status, error.code, error.field, error.correlationId], ['problem', 400, 'invalid_input', 'url', 'walk-1']);
    assert.equal(error.message, 'Not so.');
    return true;
  });
});

test('a limit says after how many seconds to try again', async () => {
  answering({ status: 429, body: { code: 'rate_limited', detail: 'too many requests' }, headers: { 'retry-after': '42' } });

  await assert.rejects(call('POST /api/shorten', { body: {} }), { retryAfter: 42, isTemporary: true });
});

test('reading is tried again once when the server fails, writing is not', async () => {
  const reading = answering(problem(503, 'service_unavailable'), { body: { ok: true } });
  assert.deepEqual(await call('GET /api/overview'), { ok: true });
  assert.equal(reading.length, 2);

  const writing = answering(problem(503, 'service_unavailable'), { body: { ok: true } });
  await assert.rejects(call('POST /api/shorten', { body: {} }), { status: 503 });
  assert.equal(writing.length, 1);
});

test('a call whose session is over waits for the next and is repeated', async () => {
  const requests = answering(problem(401, 'unauthorized'), { body: { ok: true } });
  let token = 'old';
  identity.token = () => token;
  identity.renew = async () => {
    token = 'new';
  };

  assert.deepEqual(await call('PATCH /api/links/{code}', { path: { code: 'abcd' }, body: {} }), { ok: true });
  assert.deepEqual(requests.map(({ headers }) => headers.Authorization), ['Bearer old', 'Bearer new']);
});

test('a wrong password is no end of a session', async () => {
  answering(problem(401, 'invalid_credentials'));
  identity.token = () => 'token';

  await assert.rejects(call('POST /api/auth/password', { body: {} }), { code: 'invalid_credentials' });
});

test('a missing answer loses the connection, and the next answer brings it back', async () => {
  answering(new TypeError('fetch failed'), { body: {} });

  await assert.rejects(call('GET /api/me'), { kind: 'offline', isTemporary: true });
  assert.equal(connection.get().isOnline, false);
  await call('GET /api/me');
  assert.equal(connection.get().isOnline, true);
});
