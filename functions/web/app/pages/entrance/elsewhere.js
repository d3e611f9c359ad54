import { html } from '../../vendor/preact.js';
import { useRegistration } from '../../core/registration.js';
import { Lazy } from '../../ui/lazy.js';
import { Skeleton } from '../../ui/states.js';

export const elsewhere = () => import('../../parts/providers/providers.js');

/** The identity providers, above the form with a password if there is one. @param {{ invitation?: string, hasOther?: boolean }} props */
export function Elsewhere({ invitation, hasOther }) {
  const { oidc: providers, password_login } = useRegistration().rules;
  if (providers.length === 0) return null;
  const waiting = html`<${Skeleton} rows=${providers.length} height=${36} />`;
  return html`<${Lazy} load=${elsewhere} name="Providers" providers=${providers} invitation=${invitation} hasOther=${hasOther ?? password_login} waiting=${waiting} />`;
}

/** Instead of a form with a password. */
export const NoPasswords = () => html`<p>Passwords aren’t used here. Sign in with a provider.</p><${Elsewhere} />`;
