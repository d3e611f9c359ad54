import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { isGood, latencyOf, latencyText } = await import('../app/parts/checks/checks.js');
const check = (status_code, latency_ms = 120) => ({ status_code, latency_ms });

test('a check is good if it got an answer, or is refused as a client', () => {
  assert.deepEqual([200, 301, 399, 401, 403, 405, 429, 999].map((status) => isGood(check(status))), Array(8).fill(true));
  assert.deepEqual([400, 404, 500, 503, null].map((status) => isGood(check(status))), Array(5).fill(false));
});

test('a failed check has no latency', () => {
  assert.deepEqual([200, 403, 404, 500, null].map((status) => latencyOf(check(status))), [120, 120, null, null, null]);
  assert.deepEqual([check(200), check(500), check(200, null), null, undefined].map(latencyText), ['120 ms', '', '', '', '']);
});
