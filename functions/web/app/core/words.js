// What to say instead of the API's own sentence, where people need another one than programs.

/** @type {Record<string, string>} */
const WORDS = {
  invalid_credentials: 'Wrong email or password.',
  service_unavailable: 'Linklet is temporarily unavailable.',
  internal_error: 'An unexpected error occurred.',
  rate_limited: 'Too many requests.',
  try_again: 'This took too long.',
  short_code_taken: 'This code is taken.',
  link_purged: 'It was deleted with its statistics.',
  last_admin: 'A workspace needs an admin. Make someone else an admin first.',
  target_quota_reached: 'This workspace or its creator has reached the limit of monitored URLs. Stop monitoring another one first.',
  target_watched: 'Links monitor this URL. Turn that off in them first.',
  email_taken: 'An account with this email already exists.',
  invitation_invalid: 'This invitation is no longer valid, or is for another email.',
  no_workspace: 'You’re not in a workspace.',
  destination_fixed: 'Destinations are locked in this workspace.',
};

/** @param {string} code @param {string} detail what the API says */
export function wordsFor(code, detail) {
  return WORDS[code] ?? detail.charAt(0).toUpperCase() + detail.slice(1) + (/[.?!]$/.test(detail) ? '' : '.');
}

/** @param {string} role */
export const withArticle = (role) => `${role === 'admin' ? 'an' : 'a'} ${role}`;
