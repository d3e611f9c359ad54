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
const OWN_ONLY = 'You change your own links only: those of others keep it.';

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
    <${Field} label="Name" autofocus autocomplete="off" hint="A tag is the same in upper and lower case." ...${form.field('name')} />
    ${other && html`<${Notice} tone="warn"><${Merge} of=${renamed} other=${other} /><//>`}
    <p class="muted">${mayAct('admin') ? 'All links that have it change, also archived ones.' : OWN_ONLY}</p>
  <//>`;
}

/** How many have them may not be counted yet. @param {{ of: ShownTag, other: ShownTag }} props */
const Merge = ({ of: { tag, links }, other }) => html`<p>${other.links === undefined ? 'Links' : counted(other.links, 'link')} ${other.links === 1 ? 'has' : 'have'} the tag “<bdi>${other.tag}</bdi>” already.</p>
  <p>It is given to ${links === undefined ? 'the links' : counted(links, 'link')} instead of “<bdi>${tag}</bdi>”. The two tags are one then, and can’t be told from each other any more.</p>`;

/** @param {string} tag @param {string} name */
function nameError(tag, name) {
  if (!name) return 'Give the tag a name.';
  if (name === tag) return 'This is its name already.';
  return [...name].length > MOST_LETTERS ? `A tag has at most ${MOST_LETTERS} characters.` : undefined;
}

/** @param {ShownTag} deleted */
export async function deleteTag(deleted) {
  const { tag, links } = deleted;
  const loss = `${links === undefined ? 'Its links lose' : `${counted(links, 'link')} ${links === 1 ? 'loses' : 'lose'}`} this tag, and archived ones as well.`;
  const question = {
    title: `Delete the tag “${tag}”?`,
    text: [loss, 'The links stay, with their statistics.', !mayAct('admin') && OWN_ONLY].filter(Boolean).join(' '),
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
