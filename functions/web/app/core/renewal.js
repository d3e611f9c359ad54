// Staying signed in: another token of a session, by a refresh token in a cookie that no script can read.

import { basePath } from './address.js';
import { ApiError, call } from './api.js';

const MARK = `linklet:remembered:${basePath}`;

/** Whether somebody stays signed in here. Without the mark, nothing is asked for that only a cookie could give. */
export const isRemembered = () => localStorage.getItem(MARK) !== null;

/** @param {boolean} isOn */
export function setRemembered(isOn) {
  if (isOn) localStorage.setItem(MARK, 'yes');
  else localStorage.removeItem(MARK);
}

/**
 * Does something in one tab at a time. Locks are only there with https, and on this machine.
 * @param {() => Promise<any>} work
 * @returns {Promise<any>}
 */
export const alone = (work) => (navigator.locks ? navigator.locks.request(MARK, work) : work());

/**
 * Asks for a token of the session that is remembered. An answer that was lost is asked for once more, soon enough to get the same.
 * @param {string} [workspace] a slug
 * @returns {Promise<{ token: string, expires_at: string } | undefined>} nothing if the session can't be renewed any more
 */
export async function refreshToken(workspace) {
  const ask = () => call('POST /api/auth/refresh', { anonymous: true, withCookie: true, body: { workspace } });
  try {
    return await ask().catch((error) => (error instanceof ApiError && error.kind !== 'problem' ? ask() : Promise.reject(error)));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    setRemembered(false);
    return undefined;
  }
}

/**
 * Whom a token is for, and in which workspace. Its address is left out, since that may have changed.
 * @param {string} token
 * @returns {{ sub: string, ws: string | null }}
 */
export const claimsOf = (token) => JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
