import { call } from './api.js';
import { useResource } from './resource.js';

/** @typedef {{ registration: 'open' | 'domains' | 'invited', domains: string[] | null, takes_password: boolean, sends_mail: boolean }} Rules */

/** What holds as long as nobody says otherwise: the API decides anyway. @type {Rules} */
const OPEN = { registration: 'open', domains: null, takes_password: true, sends_mail: true };

/** How people register here. @returns {{ rules: Rules, isKnown: boolean }} */
export function useRegistration() {
  const { data, isLoading } = useResource('registration', () => call('GET /api/auth/registration', { anonymous: true }));
  return { rules: data ?? OPEN, isKnown: !isLoading };
}
