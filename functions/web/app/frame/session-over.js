import { html } from '../vendor/preact.js';
import { useForm } from '../core/form.js';
import { href, navigate } from '../core/router.js';
import { currentWorkspace, session, signInAgain, signOut } from '../core/session.js';
import { useStore } from '../core/store.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { FormFailure } from '../ui/states.js';
import { toast } from '../ui/toast.js';

/** Asks for the password when the session has ended, and goes on where one was. */
export function SessionOver() {
  const { email } = useStore(session);
  const form = useForm({ password: '' }, goOn);
  const footer = html`<${Button} onClick=${() => signOut()}>Sign out<//>
    <${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Go on<//>`;
  return html`<${Dialog} title="Your session is over" mustAnswer onClose=${() => {}} footer=${footer} onSubmit=${form.submit}>
    <p>Enter the password of <strong>${email}</strong> to go on. Nothing on this page is lost.</p>
    <${FormFailure} error=${form.failure} />
    <input class="hidden" type="email" name="email" autocomplete="username" value=${email} readonly tabindex="-1" aria-hidden="true" />
    <${Field} label="Password" type="password" autocomplete="current-password" autofocus required ...${form.field('password')} />
  <//>`;
}

/** @param {{ password: string }} values */
async function goOn({ password }) {
  if (await signInAgain(password)) return;
  navigate(href('links'));
  const here = session.get().isNowhere ? 'no workspace' : currentWorkspace()?.name ?? 'another one';
  toast(`You are no longer a member of that workspace. You are in ${here} now.`);
}
