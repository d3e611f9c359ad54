import { html } from '../../vendor/preact.js';
import { useForm } from '../../core/form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { createWorkspace } from '../ways/ways.js';

/** Makes a workspace, and goes there. @param {{ onClose: () => void }} props */
export function NewWorkspace({ onClose }) {
  const form = useForm({ name: '' }, async ({ name }) => {
    await createWorkspace(name);
    onClose();
    toast(`${name} is ready.`);
  });
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Create<//>`;
  return html`<${Dialog} title="New workspace" onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <p>A workspace has its own links, members and API keys. You’ll be its admin.</p>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" autofocus ...${form.field('name')} />
  <//>`;
}
