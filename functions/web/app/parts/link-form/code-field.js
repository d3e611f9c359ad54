// The field for a code of one's own, which says at once whether it can be had.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { apiUrl } from '../../core/address.js';
import { ApiError, call } from '../../core/api.js';
import { withoutScheme } from '../../core/format.js';
import { Field } from '../../ui/field.js';

const TYPING_MS = 300;
// As docs/openapi.yaml has them; a test compares the two. The API knows further words that the operator has reserved.
const RESERVED = [
  'about', 'abuse', 'account', 'accounts', 'admin', 'apis', 'assets', 'auth', 'billing', 'bulk', 'contact', 'cookies',
  'copyright', 'dashboard', 'disclaimer', 'docs', 'favicon', 'fraud', 'gdpr', 'health', 'help', 'helpdesk', 'home',
  'hostmaster', 'impressum', 'imprint', 'index', 'info', 'legal', 'login', 'logoff', 'logon', 'logout', 'mail',
  'metrics', 'noreply', 'oauth', 'openapi', 'password', 'payment', 'phishing', 'ping', 'policy', 'postmaster', 'privacy',
  'profile', 'recovery', 'register', 'report', 'reset', 'robots', 'root', 'security', 'settings', 'shorten', 'signin',
  'signon', 'signout', 'signup', 'sitemap', 'sping', 'static', 'stats', 'status', 'support', 'terms', 'trust', 'verify',
  'webmail', 'webmaster', 'wellknown',
];

// The form of a code that is made up: seven letters and digits, with a letter between two digits.
const MADE_UP = /^(?=.*\d[a-z]+\d)[0-9a-z]{7}$/i;

/** @param {string} code */
export const isMadeUp = (code) => MADE_UP.test(code);

/** @typedef {{ text: string, tone: '' | 'good' | 'bad' }} Finding */

/** What can be said without asking. @param {string} code @returns {Finding | undefined} */
function findingOf(code) {
  if (code === '') return { text: 'Leave blank to generate one.', tone: '' };
  if (!/^[0-9A-Za-z_-]*$/.test(code)) return { text: 'Use only a–z, A–Z, digits, - and _.', tone: 'bad' };
  if (/^[_-]/.test(code)) return { text: 'Start with a letter or digit.', tone: 'bad' };
  if (code.length > 20) return { text: `Use 4 to 20 characters. This has ${code.length}.`, tone: 'bad' };
  if (code.length < 4) return { text: 'Use 4 to 20 characters.', tone: '' };
  if (/[_-]$/.test(code)) return { text: 'End with a letter or digit.', tone: '' };
  if (RESERVED.includes(code.toLowerCase())) return { text: 'This word is reserved.', tone: 'bad' };
  if (isMadeUp(code)) return { text: 'This looks like a generated code. Change its length or use a single number.', tone: 'bad' };
  return undefined;
}

/** @param {string} code @returns {Promise<Finding>} */
async function lookUp(code) {
  try {
    const { available, reason } = await call('GET /api/codes/{code}', { path: { code } });
    if (available) return { text: 'Available.', tone: 'good' };
    return { text: reason === 'reserved' ? 'This word is reserved.' : 'Taken or previously used.', tone: 'bad' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { text: 'Couldn’t check availability.', tone: '' };
  }
}

/** @param {string} code */
export const codeError = (code) => {
  const finding = findingOf(code);
  if (code === '' || !finding) return undefined;
  return finding.text;
};

/** @param {{ value: string, onInput: (event: Event) => void, error?: string, name: string }} props */
export function CodeField({ value, error, ...input }) {
  const [found, setFound] = useState(/** @type {{ code: string, finding: Finding } | undefined} */ (undefined));
  const known = findingOf(value);

  useEffect(() => {
    if (known) return undefined;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const finding = await lookUp(value);
      if (isCurrent) setFound({ code: value, finding });
    }, TYPING_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [value]);

  const finding = known ?? (found?.code === value ? found.finding : { text: 'Checking…', tone: '' });
  return html`<${Field}
    ...${input}
    label="Custom code"
    isOptional
    value=${value}
    error=${error}
    autocomplete="off"
    autocapitalize="none"
    spellcheck=${false}
    placeholder="spring"
    hint=${!error && html`<span class=${`live ${finding.tone}`} role="status">${value && !known ? html`<bdi>${withoutScheme(apiUrl(`/${value}`))}</bdi> – ` : ''}${finding.text}</span>`}
  />`;
}
