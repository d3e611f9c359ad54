import { html } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { PASSWORD_HINT, passwordError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

/** @param {{ current: string, new: string }} values */
function check(values) {
  return {
    current: values.current ? undefined : 'Enter your current password.',
    new: passwordError(values.new),
  };
}

export function PasswordForm() {
  const { email } = useStore(session);
  const form = useForm(
    { current: '', new: '' },
    async (values) => {
      await call('POST /api/auth/password', { body: values }).catch(blamePassword('current'));
      toast('Password changed. Your other sessions end within a minute.');
      form.set('current', '');
      form.set('new', '');
    },
    { check },
  );
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <input class="hidden" type="email" name="email" autocomplete="username" value=${email} readonly tabindex="-1" aria-hidden="true" />
    <${Field} label="Current password" type="password" autocomplete="current-password" ...${form.field('current')} />
    <${Field} label="New password" type="password" autocomplete="new-password" hint=${PASSWORD_HINT} ...${form.field('new')} />
    <p><${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Change password<//></p>
  </form>`;
}

/** A wrong password is a field's fault. @param {string} field */
export const blamePassword = (field) => (/** @type {unknown} */ error) => {
  if (!(error instanceof ApiError) || error.code !== 'invalid_credentials') throw error;
  throw new ApiError('problem', 'Wrong password.', { status: error.status, code: error.code, field });
};
