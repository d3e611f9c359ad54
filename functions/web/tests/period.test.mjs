import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const { DAY_MS, MOST_DAYS, dayOf, periodOf } = await import('../app/pages/link/period.js');

/** What a pattern finds in a file of the repository. */
const number = (file, pattern) => Number(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').match(pattern)?.[1]);

test('the longest time of a page is the one that the API answers with, which is how long the template keeps raw clicks', () => {
  assert.equal(number('shared/domain/src/lifetimes.rs', /RAW_CLICKS: Duration = Duration::from_secs\((\d+) \* DAY\)/), MOST_DAYS);
  assert.equal(number('template.yaml', /RawClickDays: \{ Type: Number, Default: (\d+),/), MOST_DAYS);
  assert.equal(number('docs/openapi.yaml', /^    Days:$(?:\n {6,}.*)*?\n          maxItems: (\d+)$/m), MOST_DAYS);
});

test('a time of one’s own is at most that long, and the usual one otherwise', () => {
  const now = Date.UTC(2026, 2, 2, 14);
  const rangeOf = (days) => periodOf(new URLSearchParams({ range: 'own', from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now) }), now).range;
  assert.deepEqual([0, 1, MOST_DAYS, MOST_DAYS + 1].map(rangeOf), ['30d', 'own', 'own', '30d']);
});
