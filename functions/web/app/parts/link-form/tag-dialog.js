import { html, useState } from '../../vendor/preact.js';
import { counted } from '../../core/format.js';
import { rememberTags, useTagNames } from '../../core/lists.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TagInput } from './tags.js';

/** Asks which tags some links get, too. @param {{ count: number, onClose: () => void, onTags: (tags: string[]) => void }} props */
export function TagDialog({ count, onClose, onTags }) {
  const [tags, setTags] = useState(/** @type {string[]} */ ([]));
  const known = useTagNames();
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (tags.length === 0) return;
    rememberTags(tags);
    onTags(tags);
  };
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    <${Button} kind="primary" type="submit" disabled=${tags.length === 0}>Add to ${counted(count, 'link')}<//>`;
  return html`<${Dialog} title="Add tags" onClose=${onClose} onSubmit=${submit} footer=${footer}>
    <${TagInput} label="Tags" hint="Enter or a comma makes a tag. The links keep those that they have." value=${tags} onChange=${setTags} known=${known} />
  <//>`;
}
