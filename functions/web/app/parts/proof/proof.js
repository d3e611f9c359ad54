// Proving again who one is, for what can't be undone: by the password, or by signing in anew at a provider.

import { html, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { leaveFor, noteProof, provenUntil, useArrival } from '../providers/providers.js';

/** @typedef {import('../providers/providers.js').Provider} Provider */
/** @typedef {{ id: string, provider: Provider | null, issuer: string, email: string | null, connected_at: string }} Identity without a provider if that isn't configured any more */
/** How somebody signs in. @typedef {{ has_password: boolean, identities: Identity[] }} Ways */

export const useWays = () => useResource('identities', () => /** @type {Promise<Ways>} */ (call('GET /api/me/identities')));

/** Those at which somebody can sign in. @param {Ways} ways @returns {Provider[]} */
export const providersOf = ({ identities }) => [...new Map(identities.flatMap(({ provider }) => (provider ? [[provider.id, provider]] : []))).values()];

/**
 * @typedef {object} Proving
 * @property {string} task
 * @property {boolean} isReady whether it is known how one can prove it
 * @property {boolean} isProven whether that was done a moment ago
 * @property {boolean} takesPassword
 * @property {boolean} mayGoOn whether the form can be sent
 * @property {Provider[]} providers
 * @property {string} refusal why the way back has proved nothing
 * @property {(password: string) => string | undefined} check what is wrong with the password
 * @property {(field: string) => (error: unknown) => never} blame shows what the proof lacks at this field
 */

/**
 * What a form for something that can't be undone has to know.
 * @param {string} task names it; whoever was away for it comes back to it
 * @returns {Proving}
 */
export function useProving(task) {
  const { data: ways, isLoading } = useWays();
  const { rules, isKnown } = useRegistration();
  const { refusal } = useArrival(task);
  const [until, setUntil] = useState(provenUntil);
  const providers = ways ? providersOf(ways) : [];
  const isReady = !isLoading && isKnown;
  const isProven = until > Date.now();
  // The API decides: it takes the password for a while that an operator has let somebody choose.
  const takesPassword = !isProven && (!ways || (ways.has_password && (rules.password_login || providers.length === 0)));
  return {
    task,
    isReady,
    isProven,
    takesPassword,
    mayGoOn: isReady && (isProven || takesPassword),
    providers,
    refusal,
    check: (password) => (takesPassword && !password ? 'Enter your password.' : undefined),
    blame: (field) => (error) => {
      if (!(error instanceof ApiError)) throw error;
      const { status, code } = error;
      if (code === 'invalid_credentials') throw new ApiError('problem', 'Wrong password.', { status, code, field });
      if (code !== 'proof_required') throw error;
      noteProof(0);
      setUntil(0);
      throw new ApiError('problem', 'Your confirmation has expired. Confirm again that it’s you.', { status, code });
    },
  };
}

/**
 * The field for the password, the ways to providers, or what says that neither is needed.
 * @param {{ of: Proving, form: import('../../core/form.js').Form<any>, field?: string, label?: string }} props
 */
export function Proof({ of: proving, form, field = 'password', label = 'Your password' }) {
  const { email } = useStore(session);
  const { isReady, isProven, takesPassword, providers, refusal, task } = proving;
  if (!isReady) return html`<${Skeleton} height=${60} />`;
  if (isProven) return html`<p class="muted">You’ve confirmed that it’s you.</p>`;
  return html`<div class="stack">
    ${refusal && html`<${Notice} tone="warn">${refusal}<//>`}
    ${takesPassword
      ? html`<input class="hidden" type="email" name="username" autocomplete="username" value=${email} readonly tabindex="-1" aria-hidden="true" />
          <${Field} label=${label} type="password" autocomplete="current-password" ...${form.field(field)} />`
      : html`<p>${providers.length > 0 ? ELSEWHERE : NO_WAY}</p>`}
    ${providers.map((one) => html`<${Elsewhere} key=${one.id} provider=${one} task=${task} isInstead=${takesPassword} kind=${takesPassword || providers.length > 1 ? 'plain' : 'primary'} />`)}
  </div>`;
}

const ELSEWHERE = 'To confirm that it’s you, sign in again. You’ll come back here.';
const NO_WAY = 'You can’t confirm that it’s you, because you have no password and your provider is no longer set up. Ask this Linklet’s operator for a link to reset your password.';

/** @param {{ provider: Provider, task: string, isInstead: boolean, kind: string }} props `isInstead`: of the password */
function Elsewhere({ provider, task, isInstead, kind }) {
  const form = useForm({}, async () => {
    const { url } = await call('POST /api/auth/proof', { withCookie: true, body: { provider: provider.id } });
    leaveFor(provider, url, { task, isProof: true });
  });
  return html`<${FormFailure} error=${form.failure} />
    <p><${Button} kind=${kind} class=${isInstead ? 'long compact' : 'long'} isBusy=${form.isBusy} onClick=${form.submit}>Continue with ${provider.name}${isInstead && ' instead'}<//></p>`;
}

/**
 * Asks for the proof, and then does it.
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.task
 * @param {string} props.action what the button says
 * @param {boolean} [props.isDanger]
 * @param {(password?: string) => Promise<unknown>} props.send
 * @param {() => void} props.onClose
 * @param {unknown} [props.children] what happens
 */
export function ProofDialog({ title, task, action, isDanger = false, send, onClose, children }) {
  const proving = useProving(task);
  const form = useForm({ password: '' }, ({ password }) => send(password || undefined).catch(proving.blame('password')), {
    check: ({ password }) => ({ password: proving.check(password) }),
  });
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    ${proving.mayGoOn && html`<${Button} kind=${isDanger ? 'danger' : 'primary'} type="submit" isBusy=${form.isBusy}>${action}<//>`}`;
  return html`<${Dialog} title=${title} onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    ${children}
    <${FormFailure} error=${form.failure} />
    <${Proof} of=${proving} form=${form} />
  <//>`;
}
