// The way back from an identity provider, and joining the account that has one's address.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { basePath } from '../../core/address.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { useRegistration } from '../../core/registration.js';
import { setRemembered } from '../../core/renewal.js';
import { href, navigate, route } from '../../core/router.js';
import { recall, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { arrive, INVITED, REFUSALS, refusalOfWay, wayBack } from '../../parts/providers/providers.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { Door, Outcome } from '../entrance/entrance.js';

/** The provider whose identity waits for the token of a mail, in this browser, and until when. */
const WAITS = `linklet:joins:${basePath}`;
const WAITS_MS = 30 * 60_000;

/** Where the way back ends. */
export function SignedInPage() {
  const { status, workspaces, hasFailed } = useStore(session);
  const refused = useStore(route).query.get('refused') ?? '';
  const isInvited = status === 'in' && wayBack().task === INVITED;
  const isWaiting = status === 'starting' || (isInvited && !workspaces && !hasFailed);
  useEffect(() => {
    if (isWaiting) return;
    if (status === 'out') return navigate(`#/sign-in?refused=${refused || 'expired'}`, { replace: true });
    const { at, task } = arrive(refused);
    // What was selected is gone.
    if (task === 'purge') toast(refused ? refusalOfWay(refused) : 'You’ve confirmed that it’s you. Select the links again to delete them.');
    navigate(at || href('links', {}, isInvited ? newestOf(workspaces ?? [])?.slug : undefined), { replace: true });
  }, [isWaiting]);
  return null;
}

/** The workspace that one has joined last. @param {import('../../core/session.js').MyWorkspace[]} workspaces */
const newestOf = (workspaces) => [...workspaces].sort((one, other) => other.joined_at.localeCompare(one.joined_at))[0];

async function comeIn() {
  setRemembered(true);
  session.set({ status: 'starting' });
  navigate('#/signed-in', { replace: true });
  await recall();
}

/** @param {object} body */
async function join(body) {
  await call('POST /api/auth/join', { anonymous: true, withCookie: true, body });
  localStorage.removeItem(WAITS);
  await comeIn();
}

export function JoinPage() {
  const { query } = useStore(route);
  const { rules, isKnown } = useRegistration();
  const takesPassword = rules.password_login;
  const [provider, email] = [query.get('provider') ?? '', query.get('email') ?? ''];
  const [isSent, setSent] = useState(false);
  const form = useForm({ password: '' }, ({ password }) => join({ password }), {
    check: ({ password }) => ({ password: password ? undefined : 'Enter your password.' }),
  });
  const mail = useForm({}, async () => {
    await call('POST /api/auth/password/forgot', { anonymous: true, body: { email } });
    localStorage.setItem(WAITS, JSON.stringify({ provider, until: Date.now() + WAITS_MS }));
    setSent(true);
  });
  const isSpent = form.failure?.code === 'token_invalid';
  const what = takesPassword ? 'Enter its password once' : 'Confirm once that you can read its email';
  const ways = html`<p><strong><bdi>${email}</bdi></strong> already has an account here. ${what} to sign in with <bdi>${provider}</bdi> from now on.</p>
    <${FormFailure} error=${form.failure ?? mail.failure} />
    ${takesPassword &&
    html`<form class="stack" novalidate onSubmit=${form.submit}>
      <${Field} label="Password" type="password" autocomplete="current-password" autofocus ...${form.field('password')} />
      <${Button} kind="primary" type="submit" class="whole" isBusy=${form.isBusy}>Connect ${provider}<//>
    </form>`}
    ${isSent
      ? html`<${Outcome}>We sent a link to <strong><bdi>${email}</bdi></strong>. Open it in this browser within 30 minutes.<//>`
      : html`<${Button} kind=${takesPassword ? 'quiet' : 'primary'} class="whole" isBusy=${mail.isBusy} onClick=${mail.submit}>Email me a link${takesPassword && ' instead'}<//>`}`;
  return html`<${Door} title="You already have an account" below=${html`<a href="#/sign-in">Back to sign-in</a>`}>
    ${isSpent ? html`<${Notice} tone="warn">${REFUSALS.expired}<//>` : isKnown ? ways : html`<${Skeleton} rows=${3} height=${56} />`}
  <//>`;
}

/** Instead of a new password. @param {{ token: string, provider: string, isOnly: boolean }} props */
export function JoinByToken({ token, provider, isOnly }) {
  const form = useForm({}, () => join({ token }));
  return html`<div class="stack">
    <${FormFailure} error=${form.failure} />
    <${Button} kind="primary" class="whole" isBusy=${form.isBusy} onClick=${form.submit}>Connect ${provider}<//>
    ${!isOnly && html`<p class="small-print">Or choose a new password:</p>`}
  </div>`;
}
