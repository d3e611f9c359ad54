// The address, another one, and what waits until that is confirmed.

import { html, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { emailError } from '../../core/checks.js';
import { useForm } from '../../core/form.js';
import { exactMomentInText } from '../../core/format.js';
import { useRegistration } from '../../core/registration.js';
import { invalidate } from '../../core/resource.js';
import { noteMe } from '../../core/session.js';
import { Proof, useProving } from '../../parts/proof/proof.js';
import { isBackFor } from '../../parts/providers/providers.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { Changeable } from './changeable.js';

/** @typedef {import('../../core/session.js').Me} Me */

/** @param {{ me: Me }} props */
export function Address({ me }) {
  return html`<${Changeable} what="email" isBegun=${isBackFor('email')} value=${html`<bdi>${me.email}</bdi>`}>
      ${(/** @type {() => void} */ close) => html`<${AddressForm} email=${me.email} close=${close} />`}
    <//>
    <div role="status" class="pending">${me.pending_email && html`<${Pending} me=${me} />`}</div>`;
}

/** @param {{ me: Me }} props */
function Pending({ me }) {
  const [underWay, setUnderWay] = useState(/** @type {'' | 'sending' | 'taking back'} */ (''));
  /** @param {typeof underWay} what @param {() => Promise<void>} act @param {string} failure */
  const only = (what, act, failure) => async () => {
    if (underWay) return;
    setUnderWay(what);
    await act().catch((error) => toastFailure(failure, error));
    setUnderWay('');
  };
  const sendAgain = only(
    'sending',
    async () => {
      await call('POST /api/auth/verification');
      toast(`Check ${me.pending_email} for the link. We send it at most once a minute.`);
    },
    'Couldn’t send the email.',
  );
  const takeBack = only(
    'taking back',
    async () => {
      noteMe(await call('PATCH /api/me', { body: { email: me.email } }));
      toast(`Your email is still ${me.email}.`);
      /** @type {HTMLElement | null} */ (document.querySelector('main h1'))?.focus();
    },
    'Couldn’t cancel the change.',
  );
  // One that is disabled would lose the focus.
  const isOff = underWay !== '' || undefined;
  return html`<${Notice}>
    <div class="stack tight">
      <p>Waiting for you to confirm <strong><bdi>${me.pending_email}</bdi></strong>${me.pending_until && ` by ${exactMomentInText(me.pending_until)}`}. Open the link in the email.</p>
      <p class="row">
        <${Button} class="compact" isBusy=${underWay === 'sending'} aria-disabled=${isOff} onClick=${sendAgain}>Resend email<span class="hidden"> to ${me.pending_email}</span><//>
        <${Button} class="compact" isBusy=${underWay === 'taking back'} aria-disabled=${isOff} onClick=${takeBack}>Cancel change<//>
      </p>
    </div>
  <//>`;
}

/** @param {{ email: string, close: () => void }} props */
function AddressForm({ email: present, close }) {
  const { rules } = useRegistration();
  const proving = useProving('email');
  const form = useForm(
    { email: '', password: '' },
    async ({ email, password }) => {
      const me = await call('PATCH /api/me', { body: { email: email.trim(), password: password || undefined } }).catch(blameField(rules, proving));
      noteMe(me);
      invalidate('members');
      close();
      toast(me.pending_email ? `We sent a link to ${me.pending_email}.` : `Your email is now ${me.email}.`);
    },
    { check: (values) => ({ email: newAddressError(values.email, present), password: proving.check(values.password) }), keeps: true },
  );
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    ${proving.mayGoOn && html`<${Field} label="New email" type="email" autocomplete="email" hint=${rules.sends_mail ? MAILED : 'This takes effect immediately.'} ...${form.field('email')} />`}
    <${Proof} of=${proving} form=${form} />
    <p class="row">${proving.mayGoOn && html`<${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Change email<//>`}<${Button} onClick=${close}>Cancel<//></p>
  </form>`;
}

const MAILED = 'We’ll send a link there that works for 24 hours. Your current email stays until you open it, and gets a notice.';

/** @param {string} email @param {string} present */
const newAddressError = (email, present) => (email.trim().toLowerCase() === present.toLowerCase() ? 'This is already your email.' : emailError(email));

/** @param {import('../../core/registration.js').Rules} rules @param {import('../../parts/proof/proof.js').Proving} proving */
const blameField = ({ domains }, { blame }) => (/** @type {unknown} */ error) => {
  if (!(error instanceof ApiError) || error.code !== 'registration_closed' || !domains) return blame('password')(error);
  const listed = new Intl.ListFormat('en', { type: 'disjunction' }).format(domains);
  throw new ApiError('problem', `Use an email address at ${listed}.`, { status: error.status, code: error.code, field: 'email' });
};
