import { html, useState } from '../../vendor/preact.js';
import { folded, isSame } from '../../core/folding.js';
import { counted } from '../../core/format.js';
import { rememberTags, useTagNames } from '../link-changes/counts.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Dialog } from '../../ui/dialog.js';
import { TagInput } from './tags.js';

/**
 * Asks which tags some links get, and which they lose.
 * @param {{ links: import('../../core/lists.js').Link[], onClose: () => void, onDone: (change: import('../selection/undo.js').TagChange) => void }} props
 */
export function TagsDialog({ links, onClose, onDone }) {
  const [add, setAdd] = useState(/** @type {string[]} */ ([]));
  const [remove, setRemove] = useState(/** @type {string[]} */ ([]));
  const known = useTagNames();
  // Each once, as it is written first.
  const theirs = [...new Map(links.flatMap(({ tags }) => tags).reverse().map((tag) => [folded(tag), tag])).values()].reverse();
  const isNone = add.length === 0 && remove.length === 0;
  const both = add.find((tag) => remove.some((other) => isSame(other, tag)));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isNone || both) return;
    rememberTags(add);
    onDone({ add, remove });
  };
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="primary" type="submit" disabled=${isNone || both !== undefined}>Change ${counted(links.length, 'link')}<//>`;
  return html`<${Dialog} title=${`Tags for ${counted(links.length, 'link')}`} onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <${TagInput} label="Add" hint="Press Enter or comma to add a tag. Existing tags stay." value=${add} onChange=${setAdd} known=${known} />
    ${theirs.length > 0 && html`<${TagInput} label="Remove" value=${remove} onChange=${setRemove} known=${theirs} error=${both && html`The tag <bdi>${both}</bdi> is also added.`} />`}
  <//>`;
}

const CHANGES = [
  { value: 'add', label: 'Add' },
  { value: 'remove', label: 'Remove' },
];

/**
 * Asks for the one tag that many links get or lose.
 * @param {{ count: string, onClose: () => void, onDone: (tag: string, isAdded: boolean) => void }} props
 */
export function TagDialog({ count, onClose, onDone }) {
  const [change, setChange] = useState('add');
  const [tags, setTags] = useState(/** @type {string[]} */ ([]));
  const known = useTagNames();
  const isAdded = change === 'add';
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (tags.length === 0) return;
    if (isAdded) rememberTags(tags);
    onDone(tags[0], isAdded);
  };
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="primary" type="submit" disabled=${tags.length === 0}>Continue<//>`;
  return html`<${Dialog} title=${`Tags for ${count}`} onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <${Choice} label="Add or remove" options=${CHANGES} value=${change} onChange=${setChange} />
    <${TagInput}
      label="Tag"
      hint=${isAdded ? 'Existing tags stay.' : 'Links without it don’t change.'}
      value=${tags}
      onChange=${(/** @type {string[]} */ all) => setTags(all.slice(-1))}
      known=${known}
    />
  <//>`;
}
