import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { emailError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { href, navigate, route } from '../../core/router.js';
import { session, signIn, signOut } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { withArticle } from '../../core/words.js';
import { joinWorkspace } from '../../parts/ways/ways.js';
import { Button } from '../../ui/button.js';
import { Choice } from '../../ui/chips.js';
import { Field } from '../../ui/field.js';
import { Failure, FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { Door } from './door.js';
import { Elsewhere } from './elsewhere.js';
import { SignUpForm } from './sign-up.js';
import { StaySignedIn } from './stay-signed-in.js';

/** @typedef {import('../../core/api.js').ApiError} ApiError */
/** @typedef {{ workspace: string | null, invited_by: string | null, role: string | null, email: string, expires_at: string }} Shown */

/**
 * Somebody was invited: with the account that they have, or with a new one. An operator's invitation leads into no workspace, but
 * lets an address have an account.
 */
export function InvitationPage() {
  const { query } = useStore(route);
  const token = query.get('token') ?? '';
  const { shown, error, look } = useInvitation(token);
  const { isKnown } = useRegistration();
  if (error) {
    return html`<${Door} title="You’re invited" below=${html`<a href="#/links">Go to your links</a>`}>
      ${error.code === 'invitation_invalid'
        ? html`<${Notice} tone="warn">This invitation was used or withdrawn, or it has expired. Ask for a new one.<//>`
        : html`<${Failure} what="Couldn’t load the invitation." error=${error} retry=${look} />`}
    <//>`;
  }
  // As high as what most will see, so that nothing moves when it is there.
  if (!shown || !isKnown) return html`<${Door} title="You’re invited"><${Skeleton} rows=${5} height=${61} /><//>`;
  return html`<${Answer} token=${token} shown=${shown} />`;
}

/** It is no resource, since who signs out or registers here goes on looking at it. @param {string} token */
function useInvitation(token) {
  const [read, setRead] = useState(/** @type {{ shown?: Shown, error?: ApiError }} */ ({}));
  const look = () => {
    setRead({});
    call('POST /api/invitations/look', { anonymous: true, body: { token } }).then(
      (shown) => setRead({ shown }),
      (error) => setRead({ error }),
    );
  };
  useEffect(look, [token]);
  return { ...read, look };
}

/** @param {{ token: string, shown: Shown }} props */
function Answer({ token, shown }) {
  const { status, email } = useStore(session);
  const { rules } = useRegistration();
  const [way, setWay] = useState('new');
  const accept = useForm({}, () => acceptInvitation(token));
  const invited = shown.workspace === null ? shown.email : '';

  // Who registers is signed in then, and the form stays until the application is entered.
  const wasOut = useRef(false);
  wasOut.current ||= status === 'out';

  const isSignedIn = status === 'in' || status === 'over';
  if (invited && isSignedIn && !wasOut.current) {
    return html`<${Door} title="You’re invited" below=${html`<a href="#/links">Not now</a>`}>
      <div class="stack">
        <p>This invitation is for a new account. You’re signed in as <strong>${email}</strong>.</p>
        <${Button} kind="primary" class="whole" onClick=${() => signOut()}>Sign out and create one<//>
      </div>
    <//>`;
  }
  if (invited) {
    return html`<${Door} title="You’re invited" below=${html`Already have an account? <a href="#/sign-in">Sign in</a>`}>
      <${Elsewhere} invitation=${token} />
      ${rules.password_login && html`<${SignUpForm} invitation=${token} email=${invited} onDone=${enter} />`}
    <//>`;
  }
  if (isSignedIn) {
    return html`<${Door} title="You’re invited" below=${html`<a href="#/links">Not now</a>`}>
      <div class="stack">
        <${Into} shown=${shown} />
        ${email.toLowerCase() === shown.email
          ? html`<${FormFailure} error=${accept.failure} />
              <${Button} kind="primary" class="whole" isBusy=${accept.isBusy} onClick=${() => accept.submit()}>Join<//>`
          : html`<${Notice} tone="warn">You’re signed in as <strong><bdi>${email}</bdi></strong>, but the invitation is for another email.<//>`}
        <${Button} kind="quiet" onClick=${() => signOut()}>Use another account<//>
      </div>
    <//>`;
  }
  const ways = [
    { value: 'new', label: 'I’m new' },
    { value: 'old', label: 'I have an account' },
  ];
  return html`<${Door} title="You’re invited">
    <div class="stack">
      <${Into} shown=${shown} />
      <${Elsewhere} invitation=${token} />
      ${rules.password_login && html`<${Choice} label="Account" value=${way} options=${ways} onChange=${setWay} />
      ${way === 'new' ? html`<${SignUpForm} invitation=${token} email=${shown.email} onDone=${enter} />` : html`<${SignInAndJoin} token=${token} email=${shown.email} />`}`}
    </div>
  <//>`;
}

/** Who invites, where to, as what, and whom. @param {{ shown: Shown }} props */
const Into = ({ shown }) =>
  html`<p>
    <strong><bdi>${shown.invited_by ?? 'Someone'}</bdi></strong> invites <strong><bdi>${shown.email}</bdi></strong> to the workspace
    ${' '}<strong><bdi>${shown.workspace}</bdi></strong> as ${withArticle(shown.role ?? '')}.
  </p>`;

/** @param {{ token: string, email: string }} props */
function SignInAndJoin({ token, email: invited }) {
  const form = useForm(
    { email: invited, password: '', remember: true },
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
