// What several forms check before they send anything. The API decides.

/** What has to be said of a password before somebody chooses one. */
export const PASSWORD_HINT = 'At least 8 characters. A few random words work well.';

/** @param {string} password */
export const passwordError = (password) => ([...password.normalize('NFC')].length < 8 ? 'Use at least 8 characters.' : undefined);

/** @param {string} email */
export const emailError = (email) => (/^\s*\S+@\S+\s*$/.test(email) ? undefined : 'Enter a valid email address.');
