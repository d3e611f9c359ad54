// Identity providers: the way to one, and what is known on the way back.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { apiUrl, basePath } from '../../core/address.js';
import { setRemembered } from '../../core/renewal.js';
import { route } from '../../core/router.js';
import { dropKept, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Notice } from '../../ui/states.js';

/** @typedef {{ id: string, name: string }} Provider */
/** Where one was, what one left for (nothing if it was to sign in), whether that proves who one is, and where to. @typedef {{ at: string, task: string, isProof: boolean, provider: Provider }} WayBack */

/** In this tab, which is the same one after the way back. */
const WAY_BACK = `linklet:way-back:${basePath}`;
/** The provider at which the session of this browser began, once it did. */
const BEGAN_AT = `linklet:began-at:${basePath}`;
/** Until when the session needs no further proof of who one is, as far as is known. */
const PROVEN_UNTIL = `linklet:proven-until:${basePath}`;
const PROOF_MS = 10 * 60_000;
/** Where nobody goes on who has signed in. */
const WAYS_IN = ['sign-in', 'sign-up', 'forgot', 'first-password', 'invitation'];

/** @type {Record<string, string>} */
export const REFUSALS = {
  denied: 'The sign-in was canceled or refused.',
  unavailable: 'We couldn’t complete the sign-in with the provider. Try again later.',
  expired: 'That took too long, or it started in another browser. Try again.',
  unproven: 'The provider doesn’t confirm your email address. Ask your administrator.',
  closed: 'You need an invitation to create an account.',
  refused: 'This account can’t be used. Ask your administrator.',
  too_many: 'Too many attempts. Wait a few minutes, then try again.',
  invitation: 'This invitation is no longer valid, or is for another email.',
  other: 'You signed in there as someone else. Use the account that’s connected here.',
  address: 'The provider doesn’t confirm the email of your account. Use an identity with the same email.',
  stale: 'The provider didn’t ask you to sign in again. Sign out there, then try again.',
  taken: 'You signed in there as someone who has another account here.',
};

/** Why one came back, if nothing has come of it. */
export function Refused() {
  const reason = useStore(route).query.get('refused') ?? '';
  return REFUSALS[reason] ? html`<${Notice} tone="warn">${REFUSALS[reason]}<//>` : null;
}

/**
 * The ways in that a provider has.
 * @param {{ providers: Provider[], invitation?: string, hasOther?: boolean }} props `hasOther`: another way stands below
 */
export function Providers({ providers, invitation, hasOther = false }) {
  const kind = !hasOther && providers.length === 1 ? 'primary' : 'plain';
  return html`<div class="stack">
      ${providers.map((one) => html`<${Button} key=${one.id} kind=${kind} class="whole long" onClick=${() => signInAt(one, invitation)}>Continue with ${one.name}<//>`)}
    </div>
    ${hasOther && html`<p class="or">or</p>`}`;
}

/** @param {Provider} provider @param {string} [invitation] a token */
function signInAt(provider, invitation) {
  // The cookie that the way back brings is asked for then, and not the session that is over.
  setRemembered(true);
  dropKept();
  const query = invitation ? `?invitation=${encodeURIComponent(invitation)}` : '';
  leaveFor(provider, apiUrl(`/api/auth/oidc/${encodeURIComponent(provider.id)}${query}`), { at: WAYS_IN.includes(route.get().parts[0]) ? '' : undefined, task: invitation && INVITED });
}

/** The task of who accepts an invitation. */
export const INVITED = 'invited';

/**
 * @param {Provider} provider
 * @param {string} address
 * @param {{ at?: string, task?: string, isProof?: boolean }} [options] where to go on, and with what
 */
export function leaveFor(provider, address, { at = location.hash, task = '', isProof = false } = {}) {
  sessionStorage.setItem(WAY_BACK, JSON.stringify({ at, task, isProof, provider: { id: provider.id, name: provider.name } }));
  location.assign(address);
}

/** @returns {Partial<WayBack>} */
export const wayBack = () => JSON.parse(sessionStorage.getItem(WAY_BACK) ?? '{}');

/** What one has come back to, until it is shown. */
let arrived = { task: '', refused: '' };

/** Ends the way back. @param {string} refused why nothing has come of it, or nothing */
export function arrive(refused) {
  const { at = '', task = '', isProof, provider } = wayBack();
  sessionStorage.removeItem(WAY_BACK);
  arrived = { task, refused };
  if (isProof && !refused) noteProof(Date.now() + PROOF_MS);
  if (provider && !refused && [INVITED, ''].includes(task)) localStorage.setItem(BEGAN_AT, JSON.stringify(provider));
  return { at, task };
}

export const provenUntil = () => Number(sessionStorage.getItem(PROVEN_UNTIL));

/** @param {number} until */
export const noteProof = (until) => sessionStorage.setItem(PROVEN_UNTIL, String(until));

/** Whether one has just come back to this. @param {string} task */
export const isBackFor = (task) => arrived.task === task;

/** @param {string} refused a reason */
export const refusalOfWay = (refused) => REFUSALS[refused] ?? REFUSALS.unavailable;

/**
 * Whether one has come back to this, and a sentence if nothing has come of it. It is only known where it is shown first.
 * @param {string} task
 */
export function useArrival(task) {
  const [{ isBack, refusal }] = useState(() => ({ isBack: isBackFor(task), refusal: isBackFor(task) && arrived.refused ? refusalOfWay(arrived.refused) : '' }));
  useEffect(() => {
    if (isBack) arrived = { task: '', refused: '' };
  }, []);
  return { isBack, refusal };
}

/** For who has just signed out. */
export function SignedOut() {
  const [{ id, name }] = useState(() => /** @type {Provider} */ (JSON.parse(localStorage.getItem(BEGAN_AT) ?? '{}')));
  useEffect(() => () => localStorage.removeItem(BEGAN_AT), []);
  if (!id || session.get().visit === 0) return null;
  return html`<${Notice}>You’re signed out here. <a href=${apiUrl(`/api/auth/oidc/${encodeURIComponent(id)}/logout`)}>Sign out at ${name}, too</a><//>`;
}
