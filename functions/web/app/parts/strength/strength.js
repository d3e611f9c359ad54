// How strong a password is that somebody chooses.

import { html } from '../../vendor/preact.js';
import { passwordError } from '../../core/checks.js';

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

/** @param {{ id: string, of: string }} props */
export function StrengthMeter({ id, of }) {
  const { level, word } = strengthOf(of);
  return html`<div class="strength" id=${id}>
    <span>${word}</span><meter aria-label="Strength" min="0" max="3" low="1.5" high="2.5" optimum="3" value=${level}></meter>
  </div>`;
}
