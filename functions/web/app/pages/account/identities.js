// The identity providers at which somebody signs in, and those at which they could.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useRegistration } from '../../core/registration.js';
import { invalidate } from '../../core/resource.js';
import { ProofDialog, providersOf, useWays } from '../../parts/proof/proof.js';
import { isBackFor, leaveFor, useArrival } from '../../parts/providers/providers.js';
import { Button } from '../../ui/button.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Card } from '../../ui/page.js';
import { Loaded, Notice } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { toast } from '../../ui/toast.js';

/** @typedef {import('../../parts/proof/proof.js').Ways} Ways */
/** @typedef {import('../../parts/proof/proof.js').Identity} Identity */
/** @typedef {import('../../parts/providers/providers.js').Provider} Provider */

const CONNECTED = 'connected';
const connecting = (/** @type {Provider} */ { id }) => `connect:${id}`;
const removing = (/** @type {Identity} */ { id }) => `remove:${id}`;

export function Identities() {
  const resource = useWays();
  const { rules, isKnown } = useRegistration();
  const { isBack, refusal } = useArrival(CONNECTED);
  useEffect(() => {
    if (isBack && !refusal) toast('Connected. You can sign in there from now on.');
  }, []);
  if (!isKnown || (rules.oidc.length === 0 && !resource.data?.identities.length)) return null;
  return html`<${Card} title="Identity providers">
    ${refusal && html`<${Notice} tone="warn">${refusal}<//>`}
    <${Loaded} of=${resource} what="Couldn’t load how you sign in.">${(/** @type {Ways} */ ways) => html`<${Lines} ways=${ways} rules=${rules} />`}<//>
  <//>`;
}

/** @param {{ ways: Ways, rules: import('../../core/registration.js').Rules }} props */
function Lines({ ways, rules }) {
  const connected = providersOf(ways).map(({ id }) => id);
  const others = rules.oidc.filter(({ id }) => !connected.includes(id));
  const isOnly = ways.identities.length === 1 && !(ways.has_password && rules.password_login);
  const { part, focusLater } = useLaterFocus();
  // The button that was pressed is gone.
  const onRemoved = () => focusLater('.button, li');
  return html`<div ref=${part}><ul class="lines" aria-label="Identity providers">
    ${ways.identities.map((one) => html`<${Connected} key=${one.id} identity=${one} isOnly=${isOnly} onRemoved=${onRemoved} />`)}
    ${others.map((one) => html`<${Other} key=${one.id} provider=${one} />`)}
  </ul></div>`;
}

/** @param {Identity} identity */
const nameOfProvider = ({ provider, issuer }) => provider?.name ?? issuer;

/** @param {{ identity: Identity, isOnly: boolean, onRemoved: () => void }} props */
function Connected({ identity, isOnly, onRemoved }) {
  const { id, provider, email, connected_at } = identity;
  const [isAsked, setAsked] = useState(isBackFor(removing(identity)));
  const name = nameOfProvider(identity);
  const close = () => setAsked(false);
  const send = async (/** @type {string | undefined} */ password) => {
    await call('DELETE /api/me/identities/{id}', { path: { id }, body: { password } });
    close();
    invalidate('identities');
    onRemoved();
    toast(`${name} is removed. Your other sessions end within a minute.`);
  };
  return html`<li tabindex="-1">
    <span class="line-text">
      <bdi class="line-title">${name}</bdi>
      <span class="small-print">${email && html`<bdi>${email}</bdi> · `}connected <${Time} at=${connected_at} isInText />${!provider && ' · no longer set up here'}</span>
    </span>
    ${isOnly
      ? html`<span class="small-print">Your only way to sign in</span>`
      : html`<${Button} class="compact" onClick=${() => setAsked(true)}>Remove<span class="hidden"> ${name}${email && ` (${email})`}</span><//>`}
    ${isAsked &&
    html`<${ProofDialog} title=${`Remove ${name}?`} task=${removing(identity)} action="Remove" isDanger send=${send} onClose=${close}>
      <p>You can no longer sign in ${email ? html`as <bdi>${email}</bdi> ` : ''}at ${name}. Your other sessions end.</p>
    <//>`}
  </li>`;
}

/** @param {{ provider: Provider }} props */
function Other({ provider }) {
  const [isAsked, setAsked] = useState(isBackFor(connecting(provider)));
  const { id, name } = provider;
  const send = async (/** @type {string | undefined} */ password) => {
    const { url } = await call('POST /api/me/identities', { withCookie: true, body: { provider: id, password } });
    leaveFor(provider, url, { task: CONNECTED });
  };
  return html`<li>
    <span class="line-text"><bdi class="line-title">${name}</bdi><span class="small-print">Not connected</span></span>
    <${Button} class="compact" onClick=${() => setAsked(true)}>Connect<span class="hidden"> ${name}</span><//>
    ${isAsked &&
    html`<${ProofDialog} title=${`Connect ${name}?`} task=${connecting(provider)} action=${`Go to ${name}`} send=${send} onClose=${() => setAsked(false)}>
      <p>Sign in there with the account you want to use here.</p>
    <//>`}
  </li>`;
}
