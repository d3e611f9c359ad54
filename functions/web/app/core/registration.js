import { call } from './api.js';
import { useResource } from './resource.js';

/** @typedef {{ registration: 'open' | 'domains' | 'invited', domains: string[] | null, takes_password: boolean, sends_mail: boolean, password_login: boolean, oidc: { id: string, name: string }[] }} Rules */

/** What holds as long as nobody says otherwise: the API decides anyway. @type {Rules} */
const OPEN = { registration: 'open', domains: null, takes_password: true, sends_mail: true, password_login: true, oidc: [] };

/** What was read last. It is nobody's, so it stays when somebody signs out. @type {Rules | undefined} */
let last;

/** How people register here. @returns {{ rules: Rules, isKnown: boolean }} */
export function useRegistration() {
  const { data = last, isLoading } = useResource('registration', () => call('GET /api/auth/registration', { anonymous: true }));
  last = data;
  return { rules: { ...OPEN, ...data }, isKnown: data !== undefined || !isLoading };
}
