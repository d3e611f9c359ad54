import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { invalidate } from '../../core/resource.js';
import { noteMe } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { Changeable } from './changeable.js';

/** @param {{ name: string }} props */
export function Name({ name }) {
  const value = name ? html`<bdi>${name}</bdi>` : html`<span class="muted">Not set</span>`;
  return html`<${Changeable} what="name" value=${value}>${(/** @type {() => void} */ close) => html`<${NameForm} name=${name} close=${close} />`}<//>`;
}

/** @param {{ name: string, close: () => void }} props */
function NameForm({ name, close }) {
  const form = useForm(
    { full_name: name },
    async ({ full_name }) => {
      noteMe(await call('PATCH /api/me', { body: { full_name: full_name.trim() || null } }));
      // Lists show it.
      invalidate('members');
      close();
      toast('Name changed.');
    },
    { keeps: true },
  );
  return html`<form class="stack tight" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Your name" isOptional autocomplete="name" hint="Members of your workspaces see it. If it’s blank, they see your email." ...${form.field('full_name')} />
    <p class="row"><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Save<//><${Button} onClick=${close}>Cancel<//></p>
  </form>`;
}
