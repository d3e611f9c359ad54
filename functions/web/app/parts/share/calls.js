// What the API does with shares.

import { call } from '../../core/api.js';

/** @typedef {{ id: string, short_code: string | null, tag: string | null, has_password: boolean, created_by: string, created_at: string, expires_at: string | null }} Share */
/** @typedef {{ code?: string, tag?: string }} Of a link, or a tag */

/** @param {Of} of */
export const keyOfShares = ({ code, tag }) => `shares:${JSON.stringify([code, tag])}`;

/** @param {Of} of @returns {Promise<{ shares: Share[] }>} */
export const readShares = ({ code = '', tag = '' }) =>
  code ? call('GET /api/links/{code}/share', { path: { code } }) : call('GET /api/tags/{tag}/share', { path: { tag } });

/** @param {Of} of @param {{ expires_at?: string, password?: string }} body @returns {Promise<Share & { url: string }>} */
export const createShare = ({ code = '', tag = '' }, body) =>
  code ? call('POST /api/links/{code}/share', { path: { code }, body }) : call('POST /api/tags/{tag}/share', { path: { tag }, body });

/** @param {Share} share */
export const endShare = ({ id, short_code: code, tag }) =>
  code ? call('DELETE /api/links/{code}/share/{id}', { path: { code, id } }) : call('DELETE /api/tags/{tag}/share/{id}', { path: { tag: tag ?? '', id } });
