import { html, useState } from '../../vendor/preact.js';
import { counted } from '../../core/format.js';
import { rememberTags, useTagNames } from '../../core/lists.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TagInput } from './tags.js';

/**
 * Asks which tags some links get, and which they lose.
 * @param {{ links: import('../../core/lists.js').Link[], onClose: () => void, onTags: (change: import('../selection/retagged.js').TagChange) => void }} props
 */
export function TagsDialog({ links, onClose, onTags }) {
  const [add, setAdd] = useState(/** @type {string[]} */ ([]));
  const [remove, setRemove] = useState(/** @type {string[]} */ ([]));
  const known = useTagNames();
  // Each once, as it is written first.
  const theirs = [...new Map(links.flatMap(({ tags }) => tags).reverse().map((tag) => [tag.toLowerCase(), tag])).values()].reverse();
  const isNone = add.length === 0 && remove.length === 0;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isNone) return;
    rememberTags(add);
    onTags({ add, remove });
  };
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="primary" type="submit" disabled=${isNone}>Change ${counted(links.length, 'link')}<//>`;
  return html`<${Dialog} title=${`Tags of ${counted(links.length, 'link')}`} onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <${TagInput} label="Add" hint="Enter or a comma makes a tag. The links keep those that they have." value=${add} onChange=${setAdd} known=${known} />
    ${theirs.length > 0 && html`<${TagInput} label="Remove" value=${remove} onChange=${setRemove} known=${theirs} />`}
  <//>`;
}
