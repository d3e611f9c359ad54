import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { invalidate } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

/** @param {{ of: { prefix: string, name: string }, onClose: () => void }} props */
export function RenameKey({ of: key, onClose }) {
  const form = useForm(
    { name: key.name },
    async ({ name }) => {
      const { name: given } = await call('PATCH /api/keys/{prefix}', { path: { prefix: key.prefix }, body: { name: name.trim() } });
      invalidate('keys');
      onClose();
      toast(`The key is now called “${given}”.`);
    },
    { check: ({ name }) => ({ name: name.trim() ? undefined : 'Enter a name.' }) },
  );
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Rename<//>`;
  return html`<${Dialog} title="Rename key" onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Name" autofocus autocomplete="off" ...${form.field('name')} />
  <//>`;
}
