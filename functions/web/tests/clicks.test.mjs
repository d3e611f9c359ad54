import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { FEW_CLICKS, MOST_CLICKS, withNews } = await import('../app/pages/link/read.js');

/** Clicks, newest first, of which each has the number of those before it. */
const clicks = (newest, count) => Array.from({ length: count }, (_, at) => ({ id: String(newest - at) }));

test('what has come since is put on top of the clicks that are known', () => {
  const known = clicks(100, MOST_CLICKS);
  assert.deepEqual(withNews(known, clicks(103, FEW_CLICKS)), clicks(103, MOST_CLICKS));
  assert.deepEqual(withNews(clicks(30, 30), clicks(31, FEW_CLICKS)), clicks(31, 31));
  assert.deepEqual(withNews(clicks(3, 3), clicks(5, 5)), clicks(5, 5));
});

test('the list stays the same while nothing comes', () => {
  for (const known of [clicks(100, MOST_CLICKS), clicks(FEW_CLICKS, FEW_CLICKS), clicks(3, 3), []]) {
    assert.equal(withNews(known, known.slice(0, FEW_CLICKS)), known);
  }
});

test('a click that comes late has its place', () => {
  const known = clicks(100, MOST_CLICKS).filter(({ id }) => id !== '95');
  assert.deepEqual(withNews(known, clicks(100, FEW_CLICKS))?.slice(0, 30), clicks(100, 30));
});

test('where there may be others between, all are read again', () => {
  assert.equal(withNews(clicks(100, MOST_CLICKS), clicks(150, FEW_CLICKS)), undefined);
  assert.equal(withNews([], clicks(20, FEW_CLICKS)), undefined);
});
