import { html, useRef } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { day } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { refreshMe } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Facts } from '../../ui/facts.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

/** @typedef {{ name: string, slug: string, settings: object, created_at: string, updated_at: string }} Workspace */

const SLUG = /^[0-9a-z][0-9a-z-]{0,61}[0-9a-z]$/;
const SETTINGS_BYTES = 2_048;

/** For who may only look at it. @param {{ workspace: Workspace }} props */
export function WorkspaceFacts({ workspace }) {
  const rows = [
    { name: 'Name', value: html`<bdi>${workspace.name}</bdi>` },
    { name: 'Short name', value: html`<code>${workspace.slug}</code>` },
    { name: 'Created', value: day(workspace.created_at) },
    Object.keys(workspace.settings).length > 0 && { name: 'Settings', value: html`<pre class="code">${written(workspace.settings)}</pre>` },
  ];
  return html`<div class="stack">
    <${Facts} rows=${rows} />
    <p class="muted">Only <a href="#/members">admins</a> can change this.</p>
  </div>`;
}

/** @param {{ workspace: Workspace, show: (change: (workspace: Workspace) => Workspace) => void }} props */
export function WorkspaceForm({ workspace, show }) {
  // What the fields were filled with: only what was changed since is sent, so that two admins don't undo each other's changes.
  const base = useRef(workspace);
  const initial = { name: base.current.name, slug: base.current.slug, settings: written(base.current.settings) };
  const form = useForm(
    initial,
    async (values) => {
      const changed = await call('PATCH /api/workspace', { body: changesOf(values, base.current) });
      base.current = changed;
      show(() => changed);
      await refreshMe();
      toast('Workspace saved.');
    },
    { check, keeps: true },
  );
  const hasSettings = initial.settings !== '{}' || form.errors.settings !== undefined;
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" maxlength="100" ...${form.field('name')} />
    <${Field}
      label="Short name"
      class="code-input"
      spellcheck="false"
      autocapitalize="none"
      maxlength="63"
      hint="Lower-case letters, digits and hyphens. Scripts that sign in to this workspace by its short name need the new one."
      ...${form.field('slug')}
    />
    <details class="more-fields" open=${hasSettings}>
      <summary>Settings for programs</summary>
      <${Field}
        label="JSON object"
        as="textarea"
        class="code-input"
        rows="4"
        spellcheck="false"
        hint="Linklet keeps this for programs that use the API, and doesn’t read it itself."
        ...${form.field('settings')}
      />
    </details>
    <p class="row">
      <${Button} kind="primary" type="submit" isBusy=${form.isBusy} disabled=${!form.isDirty}>Save<//>
      <span class="small-print">Created on ${day(workspace.created_at)}</span>
    </p>
  </form>`;
}

/** @param {object} settings */
const written = (settings) => JSON.stringify(settings, null, 2);

/** @param {{ name: string, slug: string, settings: string }} values */
function check({ name, slug, settings }) {
  return {
    name: name.trim() ? undefined : 'Give the workspace a name.',
    slug: SLUG.test(slug.trim()) ? undefined : 'Use 2 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends.',
    settings: settingsError(settings),
  };
}

/** @param {string} text */
function settingsError(text) {
  const parsed = parsedSettings(text);
  if (!parsed) return 'This isn’t a JSON object, such as { "colour": "blue" }.';
  const bytes = new TextEncoder().encode(JSON.stringify(parsed)).length;
  return bytes > SETTINGS_BYTES ? `This has ${bytes} bytes; there is room for ${SETTINGS_BYTES}.` : undefined;
}

/** @param {string} text */
function parsedSettings(text) {
  try {
    const parsed = JSON.parse(text.trim() || '{}');
    return parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {{ name: string, slug: string, settings: string }} values
 * @param {Workspace} workspace
 */
function changesOf({ name, slug, settings }, workspace) {
  /** @type {Partial<Workspace>} */
  const changes = {};
  if (name.trim() !== workspace.name) changes.name = name.trim();
  if (slug.trim() !== workspace.slug) changes.slug = slug.trim();
  if (settings !== written(workspace.settings)) changes.settings = parsedSettings(settings);
  return changes;
}
