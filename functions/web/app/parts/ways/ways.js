// The ways into a workspace, out of one, and out of the account.

import { ApiError, call, identity } from '../../core/api.js';
import { newId } from '../../core/random.js';
import { navigate } from '../../core/router.js';
import { endSession, enter, leaveTabs, session, switchWorkspace, tokenForAny } from '../../core/session.js';

let creation = { name: '', id: '' };

/**
 * Joins the workspace to which one is invited, and goes there.
 * @param {string} token
 * @returns {Promise<string>} its name
 */
export async function joinWorkspace(token) {
  const { slug, name } = await call('POST /api/invitations/accept', { body: { token } });
  await switchWorkspace(slug);
  return name;
}

/** Makes a workspace, and goes there. @param {string} name */
export async function createWorkspace(name) {
  // A repeated attempt is the same one, should the answer have been lost, or the way there have failed.
  if (creation.name !== name) creation = { name, id: newId() };
  const { slug } = await call('POST /api/workspaces', { body: { name }, idempotencyKey: creation.id });
  await switchWorkspace(slug);
  creation = { name: '', id: '' };
}

/** A token for the workspace where one goes on, asked for first: afterwards, nothing is granted to the present one. @param {string} [next] a slug */
const wayOut = async (next) => next && call('POST /api/auth/switch', { body: { workspace: next } });

/**
 * Leaves the present workspace, and goes to another one; without one, signs out.
 * @param {string} userId one's own
 * @param {string} [next] a slug
 */
export async function leaveWorkspace(userId, next) {
  const answer = await wayOut(next);
  await call('DELETE /api/workspace/members/{user_id}', { path: { user_id: userId } });
  return answer ? enter(answer, next) : leaveTabs();
}

/**
 * Closes the present workspace, and goes to another one, or to none.
 * @param {{ slug: string, password?: string }} body
 * @param {string} [next] a slug
 * @returns {Promise<{ closed_at: string, restorable_until: string }>}
 */
export async function closeWorkspace(body, next) {
  const there = await wayOut(next);
  const closed = await call('DELETE /api/workspace', { body });
  const answer = there || (await tokenForAny(body.password).catch(() => undefined));
  // It is closed. Should the way out have failed, the password leads on.
  if (answer) await enter(answer, next);
  else session.set({ status: 'over' });
  return closed;
}

/**
 * Closes the account.
 * @param {string | undefined} password unless it was proven otherwise whose account it is
 * @param {boolean} isRepeated whether it isn't known what has become of an attempt before this one
 */
export async function closeAccount(password, isRepeated) {
  const close = (/** @type {string | undefined} */ token) => call('DELETE /api/me', { body: { password }, token });
  try {
    // A token of a closed account is refused, and not to be renewed.
    await close(isRepeated ? identity.token() : undefined);
  } catch (error) {
    if (!isRepeated || !is(error, 'unauthorized')) throw error;
    // The session may have ended, and not the account: whoever still signs in closes it now.
    const entered = await tokenForAny(password).catch((reason) => {
      if (!is(reason, 'invalid_credentials')) throw reason;
    });
    // Without a password, nobody knows.
    if (!entered && !password) throw error;
    if (entered) await close(entered.token);
  }
  endSession();
  navigate('#/sign-in', { replace: true });
}

/** @param {unknown} error @param {string} code */
function is(error, code) {
  return error instanceof ApiError && error.code === code;
}
