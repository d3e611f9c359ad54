import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { changesHere, noteChange, noteMade } = await import('../app/core/lists.js');
const { session } = await import('../app/core/session.js');
const { overviewSince, tagsSince } = await import('../app/parts/link-changes/since.js');

const AS_OF = '2026-11-12T14:00:00.000Z';
const AFTER = '2026-11-12T14:00:20.000Z';
const TAGS = [{ tag: 'News', links: 2, total_clicks: 50 }, { tag: 'sale', links: 1, total_clicks: 7 }];
const OVERVIEW = { as_of: AS_OF, links: { total: 3, active: 2, inactive: 1, expired: 0, deleted: 0, archived: 1 } };
const link = (more = {}) => ({ tags: ['news'], archived: false, status: 'active', total_clicks: 10, ...more });
const change = (before, after, at = AFTER) => ({ before, after, at });

test('the tags of a new link are counted at once', () => {
  const made = change(undefined, link({ tags: ['NEWS', 'fresh'], total_clicks: 0 }));
  assert.deepEqual(tagsSince(TAGS, AS_OF, [made]), [{ tag: 'News', links: 3, total_clicks: 50 }, { tag: 'fresh', links: 1, total_clicks: 0 }, TAGS[1]]);
});

test('a tag that a link loses, puts away or takes along is no longer counted', () => {
  const sale = link({ tags: ['sale'], total_clicks: 7 });
  for (const after of [undefined, { ...sale, tags: [] }, { ...sale, archived: true }, { ...sale, status: 'deleted' }]) {
    assert.deepEqual(tagsSince(TAGS, AS_OF, [change(sale, after)]), [TAGS[0]]);
  }
  assert.deepEqual(tagsSince(TAGS, AS_OF, [change(link(), link({ tags: ['news', 'sale'] }))]), [TAGS[0], { tag: 'sale', links: 2, total_clicks: 17 }]);
});

test('links are counted by what they are now', () => {
  const linksAfter = (...changes) => overviewSince(OVERVIEW, '', changes).links;
  assert.deepEqual(linksAfter(change(undefined, link())), { ...OVERVIEW.links, total: 4, active: 3 });
  assert.deepEqual(linksAfter(change(link(), link({ status: 'scheduled' }))), { ...OVERVIEW.links, active: 1, scheduled: 1 });
  assert.deepEqual(linksAfter(change(link(), link({ archived: true }))), { ...OVERVIEW.links, total: 2, active: 1, archived: 2 });
  assert.deepEqual(linksAfter(change(link({ archived: true }), link())), { ...OVERVIEW.links, total: 4, active: 3, archived: 0 });
  assert.deepEqual(linksAfter(change(link(), link({ status: 'deleted' }))), { ...OVERVIEW.links, active: 1, deleted: 1 });
  assert.deepEqual(linksAfter(change(link(), undefined)), { ...OVERVIEW.links, total: 2, active: 1 });
  // What is undone is as if it had not been.
  assert.deepEqual(linksAfter(change(link(), link({ status: 'inactive' })), change(link({ status: 'inactive' }), link())), OVERVIEW.links);
});

test('an overview of a tag has the links that have it', () => {
  const added = change(link({ tags: [] }), link({ tags: ['Sale'] }));
  assert.deepEqual(overviewSince(OVERVIEW, 'sale', [added]).links, { ...OVERVIEW.links, total: 4, active: 3 });
  assert.equal(overviewSince(OVERVIEW, 'other', [added]), OVERVIEW);
});

test('what the API has counted is not counted again', () => {
  const counted = [change(undefined, link(), '2026-11-12T13:59:59.000Z'), change(undefined, link(), AS_OF)];
  assert.equal(tagsSince(TAGS, AS_OF, counted), TAGS);
  assert.equal(overviewSince(OVERVIEW, '', counted), OVERVIEW);
});

test('a link that was there is no new one, but may have come back', () => {
  noteMade({ reused: false }, link({ created_at: AFTER }));
  noteMade({ reused: true }, link());
  noteMade({ reused: true, archived: true }, link({ updated_at: AFTER }));
  assert.deepEqual(changesHere().map(({ before, after, at }) => [before?.archived, after.archived, at]), [[undefined, false, AFTER], [true, false, AFTER]]);
});

test('what was done in another workspace is forgotten', () => {
  noteChange(undefined, link());
  session.set({ visit: session.get().visit + 1 });
  assert.deepEqual(changesHere(), []);
});
