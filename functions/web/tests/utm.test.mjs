import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { rememberLinks } = await import('../app/core/lists.js');
const { session } = await import('../app/core/session.js');
const { campaignIn, withCampaign } = await import('../app/parts/utm/campaign.js');
const { knownValues, MOST_VALUES, rememberCampaigns } = await import('../app/parts/utm/known.js');
const { templatesIn } = await import('../app/parts/utm/templates.js');
const { wholeSettings, workspaceOf } = await import('../app/pages/settings/workspace-form.js');

test('a campaign replaces the parameters that it has', () => {
  const url = withCampaign('https://example.com/?a=1&utm_source=old&utm_term=kept#top', { utm_source: ' new ', utm_medium: '', utm_content: 'a&b' });
  assert.equal(url, 'https://example.com/?a=1&utm_term=kept&utm_source=new&utm_content=a%26b#top');
  assert.deepEqual(campaignIn(url), { utm_source: 'new', utm_term: 'kept', utm_content: 'a&b' });
});

test('templates are those that can be understood', () => {
  const stored = [{ name: 'Letter', utm_source: 'letter', utm_term: '', utm_medium: 5, colour: 'red' }, { utm_source: 'nameless' }, null, 'text', { name: 'Open' }];
  assert.deepEqual(templatesIn(stored), [{ name: 'Letter', utm_source: 'letter' }, { name: 'Open' }]);
  for (const nothing of [undefined, null, {}, 'text']) assert.deepEqual(templatesIn(nothing), []);
});

test('templates stand in the settings, which keep all else', () => {
  const { settings, templates } = workspaceOf('{"name":"a","slug":"a","settings":{"big":12345678901234567890,"utm_templates":[{"name":"a"}]}}');
  assert.deepEqual([settings, templates], ['{\n  "big": 12345678901234567890\n}', '[{"name":"a"}]']);
  assert.equal(wholeSettings(settings, templates), '{"big":12345678901234567890,"utm_templates":[{"name":"a"}]}');
  assert.equal(wholeSettings('', undefined), '{}');
  assert.equal(wholeSettings('{"utm_templates":[]}', templates), '{"utm_templates":[]}');
});

test('values that were used complete themselves, in each workspace its own', () => {
  const enter = (/** @type {string} */ workspace_id) => session.set({ me: { user_id: 'u1', email: 'ada@example.com', workspace_id, role: 'admin' } });
  enter('w1');
  rememberCampaigns(['https://example.com/?utm_source=older']);
  rememberCampaigns(['https://example.com/?utm_source=letter&utm_medium=email', 'https://example.com/', 'https://example.com/?utm_source=older']);
  rememberLinks({ isRead: true, links: /** @type {any} */ ([{ original_url: 'https://example.com/?utm_source=listed' }, { original_url: 'https://example.com/?utm_source=letter' }]) });
  assert.deepEqual(knownValues().utm_source, ['letter', 'older', 'listed']);
  assert.deepEqual(knownValues().utm_medium, ['email']);

  rememberCampaigns(Array.from({ length: 80 }, (_, at) => `https://example.com/?utm_source=s${at}`));
  assert.equal(knownValues().utm_source?.length, MOST_VALUES);
  enter('w2');
  rememberLinks({ isRead: false, links: [] });
  assert.deepEqual(knownValues().utm_source, []);
  localStorage.setItem('linklet:utm:/_aws/execute-api/c0ffee00/:w2', '{"utm_source":"broken"}');
  assert.deepEqual(knownValues().utm_source, []);
});
