import { html, useRef } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { day, number } from '../../core/format.js';
import { href } from '../../core/router.js';
import { useForm } from '../../core/form.js';
import { compact, indented, memberText, withMember } from './json.js';
import { changeUnlessOvertaken } from '../../parts/overtaken/overtaken.js';
import { namedVisibility, ofWorkspace, VisibilityChoice } from '../../parts/visibility/visibility.js';
import { invalidate } from '../../core/resource.js';
import { refreshMe } from '../../core/session.js';
import { MEMBER } from '../../parts/utm/templates.js';
import { Button } from '../../ui/button.js';
import { Facts } from '../../ui/facts.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { CHOICES, DestinationsChoice } from './destinations.js';

/** @typedef {{ name: string, slug: string, destinations: import('../../core/lists.js').Destinations, statistics: import('../../core/lists.js').Visibility, color: string | null, contact: string | null, logo_url: string | null, settings: string, templates: string | undefined, created_at: string }} Workspace its settings as JSON, but for its UTM templates, which stand there, too */
/** @typedef {Pick<Workspace, 'name' | 'slug' | 'destinations' | 'statistics' | 'settings'>} Values */

const SLUG = /^[0-9a-z][0-9a-z-]{0,98}[0-9a-z]$/;
export const SETTINGS_BYTES = 8_192;
const NO_SETTINGS = '{}';

/** What the form calls the members that can be changed. @type {Record<string, string>} */
const NAMES = { name: 'name', slug: 'slug', destinations: 'destinations', statistics: 'statistics', settings: 'metadata' };

/** @returns {Promise<import('../../core/api.js').Tagged<Workspace>>} */
export async function readTagged() {
  const { body, tag } = await call('GET /api/workspace', { asText: true, tagged: true });
  return { body: workspaceOf(body), tag };
}

export const readWorkspace = async () => (await readTagged()).body;

/** Its settings stay as they are written: other programs may have larger numbers than this one. @param {string} json @returns {Workspace} */
export function workspaceOf(json) {
  const workspace = JSON.parse(json);
  const { name, slug, created_at, destinations = 'fixed', color = null, contact = null, logo_url = null } = workspace;
  const settings = memberText(json, 'settings') ?? NO_SETTINGS;
  const own = { settings: indented(withMember(settings, MEMBER, undefined)), templates: memberText(settings, MEMBER) };
  return { name, slug, created_at, destinations, color, contact, logo_url, statistics: ofWorkspace(workspace), ...own };
}

/** All settings, as the API has them. @param {string} settings @param {string | undefined} templates */
export const wholeSettings = (settings, templates) => compact(withMember(settings.trim() || NO_SETTINGS, MEMBER, memberText(settings, MEMBER) ?? templates));

/** For who may only look at it. @param {{ workspace: Workspace }} props */
export function WorkspaceFacts({ workspace }) {
  const rows = [
    { name: 'Name', value: html`<bdi>${workspace.name}</bdi>` },
    { name: 'Slug', value: html`<code>${workspace.slug}</code>` },
    { name: 'Destinations', value: CHOICES.find(({ value }) => value === workspace.destinations)?.label },
    { name: 'Statistics', value: namedVisibility(workspace.statistics).label },
    { name: 'Created', value: day(workspace.created_at) },
    workspace.settings !== NO_SETTINGS && { name: 'Metadata', value: html`<pre class="code">${workspace.settings}</pre>` },
  ];
  return html`<div class="stack">
    <${Facts} rows=${rows} />
    <p class="muted">Only <a href=${href('members')}>admins</a> can change this.</p>
  </div>`;
}

/** @param {{ workspace: Workspace, show: (change: (workspace: Workspace) => Workspace) => void }} props */
export function WorkspaceForm({ workspace, show }) {
  // What the fields were filled with: only what was changed since is sent, so that two admins don't undo each other's changes.
  const base = useRef(workspace);
  const shown = useRef(workspace);
  const initial = valuesOf(base.current);
  const form = useForm(
    initial,
    async (values) => {
      const changes = changesOf(values, base.current);
      const changed = await changeUnlessOvertaken(shown, {
        members: Object.fromEntries(Object.keys(changes).map((name) => [name, NAMES[name]])),
        valuesOf,
        read: readTagged,
        send: async (ifMatch) => workspaceOf(await call('PATCH /api/workspace', { body: objectOf(changes, shown.current.templates), asText: true, ifMatch })),
      });
      base.current = changed;
      shown.current = changed;
      show(() => changed);
      invalidate('destinations');
      invalidate('visibility');
      await refreshMe();
      toast('Workspace saved.');
    },
    { check: (values) => check(values, shown.current.templates), keeps: true },
  );
  const hasSettings = initial.settings !== NO_SETTINGS || form.errors.settings !== undefined;
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" ...${form.field('name')} />
    <${Field}
      label="Slug"
      class="code-input"
      spellcheck="false"
      autocapitalize="none"
      hint="Lowercase letters, digits and hyphens. Scripts that use the slug to sign in need the new one."
      ...${form.field('slug')}
    />
    <${DestinationsChoice} value=${form.values.destinations} onChange=${(/** @type {string} */ chosen) => form.set('destinations', chosen)} error=${form.errors.destinations} />
    <${VisibilityChoice} value=${form.values.statistics} onChange=${(/** @type {string} */ chosen) => form.set('statistics', chosen)} error=${form.errors.statistics} />
    <details class="more-fields" open=${hasSettings}>
      <summary>Metadata</summary>
      <${Field}
        label="Metadata (JSON)"
        as="textarea"
        class="code-input"
        rows="4"
        spellcheck="false"
        hint="For programs that use the API. Linklet doesn’t read it."
        ...${form.field('settings')}
      />
    </details>
    <p class="row">
      <${Button} kind="primary" type="submit" isBusy=${form.isBusy} disabled=${!form.isDirty}>Save<//>
      <span class="small-print">Created on ${day(workspace.created_at)}</span>
    </p>
  </form>`;
}

/** @param {Workspace} workspace @returns {Values} */
const valuesOf = ({ name, slug, destinations, statistics, settings }) => ({ name, slug, destinations, statistics, settings });

/** @param {Values} values @param {string | undefined} templates */
function check({ name, slug, settings }, templates) {
  return {
    name: name.trim() ? undefined : 'Enter a name.',
    slug: SLUG.test(slug.trim()) ? undefined : 'Use 2 to 100 lowercase letters, digits and hyphens, with a letter or digit at both ends.',
    settings: settingsError(settings, templates),
  };
}

/** @param {string} text @param {string | undefined} templates */
function settingsError(text, templates) {
  if (!isObject(text)) return 'This isn’t a JSON object, such as { "color": "blue" }.';
  const bytes = bytesOf(wholeSettings(text, templates));
  return bytes > SETTINGS_BYTES ? `This has ${number(bytes)} bytes. The limit is ${number(SETTINGS_BYTES)}.` : undefined;
}

/** @param {string} text */
export const bytesOf = (text) => new TextEncoder().encode(text).length;

/** @param {string} text nothing is an empty object */
function isObject(text) {
  try {
    const parsed = JSON.parse(text.trim() || NO_SETTINGS);
    return parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

/**
 * What has changed: each member's JSON.
 * @param {Values} values
 * @param {Workspace} workspace
 * @returns {Record<string, string>}
 */
function changesOf({ name, slug, destinations, statistics, settings }, workspace) {
  return {
    ...(name.trim() !== workspace.name && { name: JSON.stringify(name.trim()) }),
    ...(slug.trim() !== workspace.slug && { slug: JSON.stringify(slug.trim()) }),
    ...(destinations !== workspace.destinations && { destinations: JSON.stringify(destinations) }),
    ...(statistics !== workspace.statistics && { statistics: JSON.stringify(statistics) }),
    ...(settings !== workspace.settings && { settings: compact(settings) || NO_SETTINGS }),
  };
}

/** @param {Record<string, string>} members each one's JSON @param {string | undefined} templates that stay */
function objectOf({ settings, ...members }, templates) {
  const all = settings === undefined ? members : { ...members, settings: wholeSettings(settings, templates) };
  return `{${Object.entries(all).map(([name, json]) => `"${name}":${json}`).join()}}`;
}
