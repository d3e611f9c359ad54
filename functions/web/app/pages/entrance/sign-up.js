import { html, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { emailError, PASSWORD_HINT, passwordError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { session, signIn } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { Door, Outcome } from './door.js';
import { Elsewhere } from './elsewhere.js';
import { StaySignedIn } from './stay-signed-in.js';

// As high as the form that most will see, so that nothing moves when it is there.
const FORM = { rows: 4, height: 77 };

export function SignUpPage() {
  const { rules, isKnown } = useRegistration();
  return html`<${Door} title="Create an account" below=${html`Already have an account? <a href="#/sign-in">Sign in</a>`}>
    ${isKnown ? html`<${WayIn} rules=${rules} />` : html`<${Skeleton} ...${FORM} />`}
  <//>`;
}

/** @param {{ rules: import('../../core/registration.js').Rules }} props */
function WayIn({ rules }) {
  if (rules.registration === 'invited') {
    return html`<p>You need an invitation to create an account. Ask someone who uses this Linklet, then open the link you get.</p>`;
  }
  if (!rules.password_login) return html`<${Whose} domains=${rules.domains} /><${Elsewhere} />`;
  return html`<${Elsewhere} />
    ${rules.takes_password ? html`<${SignUpForm} domains=${rules.domains} />` : html`<${AddressForm} domains=${rules.domains} />`}`;
}

/** Who may have an account, unless it is everybody. @param {{ domains?: string[] | null }} props */
function Whose({ domains }) {
  if (!domains) return null;
  const parts = new Intl.ListFormat(undefined, { type: 'disjunction' }).formatToParts(domains);
  return html`<p>You need an email address at ${parts.map(({ type, value }) => (type === 'element' ? html`<strong class="domain">${value}</strong>` : value))}.</p>`;
}

/**
 * @param {object} props
 * @param {string} [props.invitation] a token, with which one joins a workspace or may have an account
 * @param {string} [props.email] the address that it is for, if that is known
 * @param {string[] | null} [props.domains]
 * @param {() => void} [props.onDone]
 */
export function SignUpForm({ invitation, email: invited = '', domains, onDone }) {
  const form = useForm(
    { full_name: '', email: invited, password: '', invitation, remember: true },
    async ({ email, password, full_name, remember }) => {
      await call('POST /api/auth/register', { anonymous: true, body: { email, password, full_name, invitation } }).catch(blameDomain(domains));
      session.set({ isNewcomer: true });
      await signIn(email, password, remember);
      onDone?.();
    },
    { check: ({ email, password }) => ({ email: emailError(email), password: passwordError(password) }) },
  );
  if (form.failure?.code === 'address_unverified') {
    return html`<${Outcome}>
      Account created. We sent a link to <strong>${form.values.email}</strong>. Open it to confirm your email, then sign in.
    <//>`;
  }
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${Whose} domains=${domains} />
    <${Refusal} error=${form.failure} />
    <${Field} label="Email" type="email" autocomplete="username" autofocus=${!invited} readonly=${invited !== '' && !emailError(invited)} ...${form.field('email')} />
    <${Field} label="Password" type="password" autocomplete="new-password" autofocus=${!!invited} hint=${PASSWORD_HINT} ...${form.field('password')} />
    <${Name} form=${form} />
    <${StaySignedIn} form=${form} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Create account<//>
  </form>`;
}

/** Where the password is chosen later, with the token of a mail. @param {{ domains: string[] | null }} props */
function AddressForm({ domains }) {
  const [sentTo, setSentTo] = useState('');
  const form = useForm(
    { full_name: '', email: '' },
    async ({ email, full_name }) => {
      await call('POST /api/auth/register', { anonymous: true, body: { email, full_name } }).catch(blameDomain(domains));
      setSentTo(email.trim());
    },
    { check: ({ email }) => ({ email: emailError(email) }) },
  );
  if (sentTo) return html`<${MailSent} to=${sentTo} />`;
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${Whose} domains=${domains} />
    <${Refusal} error=${form.failure} />
    <${Field}
      label="Email"
      type="email"
      autocomplete="username"
      autofocus
      hint="We’ll email you a link to choose a password."
      ...${form.field('email')}
    />
    <${Name} form=${form} />
    <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Create account<//>
  </form>`;
}

/** @param {{ to: string }} props */
function MailSent({ to }) {
  const again = useForm({}, () => call('POST /api/auth/verification', { anonymous: true, body: { email: to } }));
  const [isAgain, setAgain] = useState(false);
  const send = async () => {
    await again.submit();
    setAgain(true);
  };
  const isSent = isAgain && !again.failure && !again.isBusy;
  return html`<div class="stack">
    <${Outcome}>We sent a link to <strong><bdi>${to}</bdi></strong>. Open it to choose a password.<//>
    <${FormFailure} error=${again.failure} />
    <p class="small-print">The link works for 24 hours. No email? Check your spam folder.</p>
    <div role="status">${isSent && 'Sent. It may take a minute.'}</div>
    ${!isSent && html`<${Button} isBusy=${again.isBusy} onClick=${send}>Resend<//>`}
  </div>`;
}

/** @param {{ form: import('../../core/form.js').Form<any> }} props */
const Name = ({ form }) => html`<${Field} label="Your name" isOptional autocomplete="name" ...${form.field('full_name')} />`;

/** @param {{ error?: ApiError }} props */
function Refusal({ error }) {
  if (error?.code !== 'registration_closed') return html`<${FormFailure} error=${error} />`;
  return html`<${Notice} tone="warn">You need an invitation to create an account. Ask someone who uses this Linklet.<//>`;
}

/** Where it is the address that keeps somebody out, it is the field's fault. @param {string[] | null | undefined} domains */
const blameDomain = (domains) => (/** @type {unknown} */ error) => {
  if (!domains || !(error instanceof ApiError) || error.code !== 'registration_closed') throw error;
  throw new ApiError('problem', 'Other email addresses need an invitation.', { status: error.status, code: error.code, field: 'email' });
};
