import { html, useRef, useState } from '../../vendor/preact.js';
import { emailError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { href, navigate, route } from '../../core/router.js';
import { joinWorkspace, session, signIn, signOut } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Field } from '../../ui/field.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { Door } from './door.js';
import { SignUpForm } from './sign-up.js';
import { StaySignedIn } from './stay-signed-in.js';

/**
 * Somebody was invited: with the account that they have, or with a new one. An operator's invitation leads into no workspace, but
 * lets an address have an account, and only such a link names the address.
 */
export function InvitationPage() {
  const { query } = useStore(route);
  const { status, email } = useStore(session);
  const [way, setWay] = useState('new');
  const token = query.get('token') ?? '';
  const invited = query.get('email') ?? '';
  const accept = useForm({}, () => acceptInvitation(token));

  // Who registers is signed in then, and the form stays until the application is entered.
  const wasOut = useRef(false);
  wasOut.current ||= status === 'out';

  const isSignedIn = status === 'in' || status === 'over';
  if (invited && isSignedIn && !wasOut.current) {
    return html`<${Door} title="You are invited" below=${html`<a href="#/links">Not now</a>`}>
      <div class="stack">
        <p>This invitation is for a new account. You are signed in as <strong>${email}</strong>.</p>
        <${Button} kind="primary" class="whole" onClick=${() => signOut()}>Sign out and create one<//>
      </div>
    <//>`;
  }
  if (invited) {
    return html`<${Door} title="You are invited" below=${html`Have an account already? <a href="#/sign-in">Sign in</a>`}>
      <${SignUpForm} invitation=${token} email=${invited} onDone=${enter} />
    <//>`;
  }
  if (isSignedIn) {
    return html`<${Door} title="You are invited" below=${html`<a href="#/links">Not now</a>`}>
      <div class="stack">
        <p>You are signed in as <strong>${email}</strong>. Join the workspace with this account?</p>
        <${FormFailure} error=${accept.failure} />
        <${Button} kind="primary" class="whole" isBusy=${accept.isBusy} onClick=${() => accept.submit()}>Join<//>
        <${Button} kind="quiet" onClick=${() => signOut()}>Use another account<//>
      </div>
    <//>`;
  }
  const ways = [
    { value: 'new', label: 'I am new' },
    { value: 'old', label: 'I have an account' },
  ];
  return html`<${Door} title="You are invited">
    <div class="stack">
      <p>Use the address to which the invitation was sent.</p>
      <${Choice} label="Account" value=${way} options=${ways} onChange=${setWay} />
      ${way === 'new' ? html`<${SignUpForm} invitation=${token} onDone=${enter} />` : html`<${SignInAndJoin} token=${token} />`}
    </div>
  <//>`;
}

/** @param {{ token: string }} props */
function SignInAndJoin({ token }) {
  const form = useForm(
    { email: '', password: '', remember: true },
    async ({ email, password, remember }) => {
      await signIn(email, password, remember);
      await acceptInvitation(token);
    },
    { check: ({ email }) => ({ email: emailError(email) }) },
  );
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field} label="Email" type="email" autocomplete="username" ...${form.field('email')} />
    <${Field} label="Password" type="password" autocomplete="current-password" ...${form.field('password')} />
    <${StaySignedIn} form=${form} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Sign in and join<//>
  </form>`;
}

/** @param {string} token */
async function acceptInvitation(token) {
  const name = await joinWorkspace(token);
  toast(`Welcome to ${name}.`);
}

const enter = () => navigate(href('links'), { replace: true });
