// What several forms check before they send anything. The API decides.

/** What has to be said of a password before somebody chooses one. */
export const PASSWORD_HINT = 'At least 8 characters. A few words that only you would put together are good.';

/** @param {string} password */
export const passwordError = (password) => ([...password].length < 8 ? 'Use at least 8 characters.' : undefined);

/** @typedef {{ level: 0 | 1 | 2 | 3, word: string }} Strength from 0, which is refused, to 3 */

/**
 * How well a password withstands guessing. Its length says most of it. What is repeated counts once, a row such as `abcdef` or `aaaa`
 * as its first two, and digits alone count half. Which passwords are common, the API alone knows.
 * @param {string} password
 * @returns {Strength}
 */
export function strengthOf(password) {
  if (passwordError(password)) return { level: 0, word: 'Too short' };
  const codes = [...password.replace(/^(.+?)\1+$/su, '$1')].map((letter) => letter.codePointAt(0) ?? 0);
  const steps = codes.map((code, place) => code - codes[place - 1]);
  const unexpected = steps.filter((step, place) => Math.abs(step) > 1 || step !== steps[place - 1]).length;
  const counted = /^\d*$/.test(password) ? unexpected / 2 : unexpected;
  if (counted < 12) return { level: 1, word: 'Weak' };
  return counted < 15 ? { level: 2, word: 'Fair' } : { level: 3, word: 'Strong' };
}

/** @param {string} email */
export const emailError = (email) => (/^\s*\S+@\S+\s*$/.test(email) ? undefined : 'Enter an address such as ada@example.com.');
