import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { call } = await import('../app/core/api.js');
const { joined } = await import('../app/parts/download/csv.js');

test('parts of a table are joined below one head', () => {
  assert.equal(joined(['at,who\n1,a\n', 'at,who\n2,b\n', 'at,who\n']), 'at,who\n1,a\n2,b\n');
  assert.equal(joined(['at,who\r\n1,a', 'at,who\r\n2,b']), 'at,who\r\n1,a\n2,b');
  assert.equal(joined(['at,who\n']), 'at,who\n');
  assert.equal(joined([]), '');
});

test('an answer says where its next part is', async () => {
  answering({ body: 1, headers: { link: '</api/stats/a/clicks?format=csv&after=x%2By>; rel="next"' } }, { body: 2 });
  const path = { code: 'a' };
  const first = await call('GET /api/stats/{code}/clicks', { path, asText: true, withNext: true });
  assert.equal(first.body, '1');
  assert.equal(first.next.get('after'), 'x+y');
  assert.deepEqual(await call('GET /api/stats/{code}/clicks', { path, query: first.next, asText: true, withNext: true }), { body: '2', next: undefined });
});
