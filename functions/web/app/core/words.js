// What to say instead of the API's own sentence, where people need another one than programs.

/** @type {Record<string, string>} */
const WORDS = {
  invalid_credentials: 'The address or the password is wrong.',
  service_unavailable: 'Linklet can’t reach its data at the moment.',
  internal_error: 'Linklet has made a mistake.',
  rate_limited: 'That was too much at once.',
  try_again: 'There was no time left for it.',
  short_code_taken: 'This code is taken.',
  link_purged: 'It was deleted, with its statistics.',
  last_admin: 'A workspace needs an admin: make somebody else one first.',
  target_quota_reached: 'This workspace, or all that its creator has, monitors as many URLs as it may. Stop monitoring another one first.',
  target_watched: 'Links watch it: switch “Watch” off for them first.',
  email_taken: 'This address has an account already.',
  invitation_invalid: 'This invitation was used or withdrawn, is too old, or is for another address.',
  no_workspace: 'You are in no workspace.',
  destination_fixed: 'Where links lead is fixed in this workspace.',
};

/** @param {string} code @param {string} detail what the API says */
export function wordsFor(code, detail) {
  return WORDS[code] ?? detail.charAt(0).toUpperCase() + detail.slice(1) + (/[.?!]$/.test(detail) ? '' : '.');
}

/** @param {string} role */
export const withArticle = (role) => `${role === 'admin' ? 'an' : 'a'} ${role}`;
