import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { clicksOf, typedFor } = await import('../app/parts/link-changes/loss.js');

const link = (short_code, total_clicks) => ({ short_code, total_clicks });

test('what is lost is said in numbers, also if they are not all known', () => {
  assert.equal(clicksOf([link('abcd', 1)]), '1 click');
  assert.equal(clicksOf([link('abcd', 40), link('efgh', 2)]), '42 clicks');
  assert.match(clicksOf([link('abcd', null)]), /^an unknown number/);
  assert.match(clicksOf([link('abcd', 40), link('efgh', null)]), /^at least 40 clicks/);
});

test('a deletion is typed from 101 clicks on, or if nobody knows them', () => {
  assert.equal(typedFor([link('abcd', 100)]), undefined);
  assert.equal(typedFor([link('abcd', 101)]), 'abcd');
  assert.equal(typedFor([link('abcd', null)]), 'abcd');
  assert.equal(typedFor([link('abcd', 60), link('efgh', 60)]), '2');
  assert.equal(typedFor([link('abcd', 0), link('efgh', null)]), '2');
});
