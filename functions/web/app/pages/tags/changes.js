// What is done to a tag, for all links that have it: it is renamed, merged with another one, or taken away.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { mayAct } from '../../core/session.js';
import { beginJob, begun, notBegun } from '../../parts/jobs/jobs.js';
import { Button } from '../../ui/button.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { otherNamed } from './arranged.js';

/** @typedef {import('./arranged.js').ShownTag} ShownTag */

const MOST_LETTERS = 50;
const OWN_ONLY = 'Only your own links change. Other people’s links keep the tag.';

/** Whether a path can name a tag: browsers take dots for folders, and API Gateway decodes a path before it looks for its parts. @param {string} tag */
const isAddressable = (tag) => !['.', '..'].includes(tag) && !/[/?%]/.test(tag);

/** @param {string} tag @param {string} name */
const renameTag = (tag, name) =>
  isAddressable(tag) ? begun(() => call('PATCH /api/tags/{tag}', { path: { tag }, body: { name } })) : beginJob({ kind: 'rename_tag', from: tag, to: name });

/** @param {string} tag */
const removeTag = (tag) =>
  isAddressable(tag) ? begun(() => call('DELETE /api/tags/{tag}', { path: { tag } })) : beginJob({ kind: 'untag', tag, filter: { all: true, archived: 'all' } });

/** @param {{ of: ShownTag, tags: ShownTag[], onClose: () => void }} props */
export function RenameTag({ of: renamed, tags, onClose }) {
  const { tag } = renamed;
  const form = useForm(
    { name: tag },
    async ({ name }) => {
      await renameTag(tag, name.trim());
      onClose();
    },
    { check: ({ name }) => ({ name: nameError(tag, name.trim()) }) },
  );
  const other = otherNamed(tags, tag, form.values.name);
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="primary" type="submit" isBusy=${form.isBusy}>${other ? 'Merge' : 'Rename'}<//>`;
  return html`<${Dialog} title=${html`Rename the tag <bdi>${tag}</bdi>`} onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" autofocus autocomplete="off" hint="Tags aren’t case-sensitive." ...${form.field('name')} />
    ${other && html`<${Notice} tone="warn"><${Merge} of=${renamed} other=${other} /><//>`}
    <p class="muted">${mayAct('admin') ? 'All links with this tag change, including archived ones.' : OWN_ONLY}</p>
  <//>`;
}

/** How many have them may not be counted yet. @param {{ of: ShownTag, other: ShownTag }} props */
const Merge = ({ of: { tag, links }, other }) => html`<p>${other.links === undefined ? 'Links' : counted(other.links, 'link')} already ${other.links === 1 ? 'has' : 'have'} the tag “<bdi>${other.tag}</bdi>”.</p>
  <p>It replaces “<bdi>${tag}</bdi>” on ${links === undefined ? 'its links' : counted(links, 'link')}. The two tags become one and can’t be separated again.</p>`;

/** @param {string} tag @param {string} name */
function nameError(tag, name) {
  if (!name) return 'Enter a name.';
  if (name === tag) return 'This is already its name.';
  return [...name].length > MOST_LETTERS ? `Use at most ${MOST_LETTERS} characters.` : undefined;
}

/** @param {ShownTag} deleted */
export async function deleteTag(deleted) {
  const { tag, links } = deleted;
  const loss = `${links === undefined ? 'Its links' : counted(links, 'link')} and any archived ones lose this tag.`;
  const question = {
    title: `Delete the tag “${tag}”?`,
    text: [loss, 'The links and their statistics stay.', !mayAct('admin') && OWN_ONLY].filter(Boolean).join(' '),
    action: 'Delete tag',
    isDanger: true,
  };
  if (!(await ask(question))) return;
  try {
    await removeTag(tag);
  } catch (error) {
    notBegun(error);
  }
}
