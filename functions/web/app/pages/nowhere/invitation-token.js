/**
 * The token of an invitation in what somebody has pasted: a link, the token alone, or a mail around one of them.
 * @param {string} pasted
 * @returns {string | undefined}
 */
export const invitationToken = (pasted) => /(?<![0-9A-Za-z])inv_[0-9A-Za-z]+/.exec(pasted)?.[0];
