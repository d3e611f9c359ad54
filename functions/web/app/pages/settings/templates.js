// The UTM templates of the workspace, which are a member of its settings.

import { html, useRef, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { isSame } from '../../core/folding.js';
import { useForm } from '../../core/form.js';
import { invalidate, useResource } from '../../core/resource.js';
import { mayAct } from '../../core/session.js';
import { changeUnlessOvertaken } from '../../parts/overtaken/overtaken.js';
import { CampaignInputs, campaignOf, PARAMETERS, templatesIn } from '../../parts/utm/utm.js';
import { Button } from '../../ui/button.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Card } from '../../ui/page.js';
import { FormFailure, Loaded } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { bytesOf, readTagged, readWorkspace, SETTINGS_BYTES, wholeSettings, workspaceOf } from './workspace-form.js';

/** @typedef {import('./workspace-form.js').Workspace} Workspace */
/** @typedef {import('../../parts/utm/utm.js').Template} Template */
/** @typedef {import('../../core/resource.js').Resource<Workspace>} WorkspaceResource */
/** `name` is what it is called so far; a new one has none. @typedef {{ name?: string, values: Template }} Edited */

const LONGEST_NAME = 100;

/** What is stored, also what can’t be understood. @param {Workspace} workspace @returns {any[]} */
function storedIn({ templates }) {
  const stored = templates === undefined ? [] : JSON.parse(templates);
  return Array.isArray(stored) ? stored : [];
}

export function Templates() {
  const workspace = useResource('workspace', readWorkspace);
  const [edited, setEdited] = useState(/** @type {Edited | null} */ (null));
  const { part, focusLater } = useLaterFocus();
  const [, redraw] = useState(0);
  const onGone = (/** @type {boolean} */ wasLast) => {
    focusLater(wasLast ? 'p' : '.lines button');
    redraw((count) => count + 1);
  };
  const isAdmin = mayAct('admin');
  const create = isAdmin && html`<${Button} class="compact" icon="plus" disabled=${!workspace.data} onClick=${() => setEdited({ values: { name: '' } })}>New template<//>`;
  return html`<${Card} title="UTM templates" actions=${create}>
    <div ref=${part} class="stack">
      <p class="muted" tabindex="-1">A template fills in the campaign of new links.${!isAdmin && ' Only admins can change templates.'}</p>
      <${Loaded} of=${workspace} what="Couldn’t load the templates.">
        ${(/** @type {Workspace} */ data) => html`<${List} templates=${templatesIn(storedIn(data))} resource=${workspace} edit=${isAdmin && setEdited} onGone=${onGone} />`}
      <//>
    </div>
    ${edited && workspace.data && html`<${TemplateDialog} edited=${edited} workspace=${workspace.data} resource=${workspace} onClose=${() => setEdited(null)} />`}
  <//>`;
}

/** @param {{ templates: Template[], resource: WorkspaceResource, edit: false | ((edited: Edited) => void), onGone: (wasLast: boolean) => void }} props */
function List({ templates, resource, edit, onGone }) {
  if (templates.length === 0) return null;
  const remove = async (/** @type {Template} */ template) => {
    const question = { title: `Delete “${template.name}”?`, text: 'Links that were created with it stay as they are.', action: 'Delete', isDanger: true };
    if (!resource.data || !(await ask(question))) return;
    try {
      await change({ current: resource.data }, template.name, () => undefined, resource);
      onGone(templates.length === 1);
      toast(`“${template.name}” is deleted.`);
    } catch (error) {
      toastFailure('Couldn’t delete the template.', error);
    }
  };
  return html`<ul class="lines">
    ${templates.map(
      (template) => html`<li key=${template.name}>
        <span class="line-text"><bdi class="line-title">${template.name}</bdi> <span class="small-print">${summaryOfTemplate(template)}</span></span>
        ${edit &&
        html`<${Button} kind="quiet" icon="edit" label=${`Edit ${template.name}`} onClick=${() => edit({ name: template.name, values: template })} />
          <${Button} kind="quiet" icon="copy" label=${`Duplicate ${template.name}`} onClick=${() => edit({ values: { ...template, name: `${template.name} copy` } })} />
          <${Button} kind="quiet" icon="trash" label=${`Delete ${template.name}`} onClick=${() => remove(template)} />`}
      </li>`,
    )}
  </ul>`;
}

/** @param {Template} template */
const summaryOfTemplate = (template) => PARAMETERS.flatMap(({ name, label }) => (template[name] ? [`${label}: ${template[name]}`] : [])).join(' · ') || 'All fields open';

/** @param {{ edited: Edited, workspace: Workspace, resource: WorkspaceResource, onClose: () => void }} props */
function TemplateDialog({ edited: { name: before, values: initial }, workspace, resource, onClose }) {
  const shown = useRef(workspace);
  const form = useForm(
    /** @type {Template} */ (initial),
    async (values) => {
      const name = values.name.trim();
      const template = { name, ...campaignOf(Object.fromEntries(PARAMETERS.map((parameter) => [parameter.name, values[parameter.name]?.trim()]))) };
      await change(shown, before ?? name, (stored) => ({ ...withoutCampaign(stored), ...template }), resource);
      toast(`“${name}” is saved.`);
      onClose();
    },
    { check: ({ name }) => ({ name: nameError(name, before, templatesIn(storedIn(shown.current))) }), keeps: true },
  );
  async function close() {
    const question = { title: 'Discard changes?', text: 'Your changes will be lost.', action: 'Discard', dismiss: 'Keep editing', isDanger: true };
    if (!form.isDirty || (await ask(question))) onClose();
  }
  const footer = html`<${Button} onClick=${close}>Cancel<//> <${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Save template<//>`;
  const set = (/** @type {object} */ values) => Object.entries(values).forEach(([name, value]) => form.set(/** @type {any} */ (name), value));
  return html`<${Dialog} title=${before === undefined ? 'New template' : html`Edit <bdi>${before}</bdi>`} onClose=${close} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" autofocus autocomplete="off" dir="auto" maxlength=${LONGEST_NAME} ...${form.field('name')} />
    <p class="hint">Leave a field blank to fill it in for each link.</p>
    <${CampaignInputs} values=${form.values} onChange=${set} />
  <//>`;
}

/** @param {string} name @param {string | undefined} before what it was called @param {Template[]} templates */
function nameError(name, before, templates) {
  if (!name.trim()) return 'Enter a name.';
  return templates.some((other) => other.name !== before && isSame(other.name, name)) ? 'Another template has this name.' : undefined;
}

/** What programs note with a template stays. @param {object} [stored] */
const withoutCampaign = (stored = {}) => Object.fromEntries(Object.entries(stored).filter(([name]) => !PARAMETERS.some((parameter) => parameter.name === name)));

/**
 * Changes, adds or deletes a template, with all others as they are by now. If somebody has changed the same one, the next attempt
 * replaces theirs.
 * @param {{ current: Workspace }} shown what the form was filled with, or what its last error was about
 * @param {string} name what it is called so far
 * @param {(stored: any) => any} changed what becomes of what is stored; nothing deletes it
 * @param {WorkspaceResource} resource
 */
async function change(shown, name, changed, resource) {
  const isIt = (/** @type {any} */ one) => one?.name === name;
  const send = async (/** @type {string | undefined} */ ifMatch) => {
    const all = storedIn(shown.current);
    const next = [...all.map((one) => (isIt(one) ? changed(one) : one)), ...(all.some(isIt) ? [] : [changed(undefined)])].filter((one) => one !== undefined);
    const { settings } = shown.current;
    const body = wholeSettings(settings, next.length > 0 ? JSON.stringify(next) : undefined);
    if (bytesOf(body) > SETTINGS_BYTES) throw new ApiError('problem', 'There is no room for this. Shorten or delete a template.');
    return workspaceOf(await call('PATCH /api/workspace', { body: `{"settings":${body}}`, asText: true, ifMatch }));
  };
  const after = await changeUnlessOvertaken(shown, { members: { stored: 'this template' }, valuesOf: (workspace) => ({ stored: storedIn(workspace).find(isIt) }), read: readTagged, send });
  shown.current = after;
  resource.change(() => after);
  invalidate('utm-templates');
}
