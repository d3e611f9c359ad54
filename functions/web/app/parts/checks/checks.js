// Whether a check has found a URL up, as the API decides it.

import { number } from '../../core/format.js';

/** Statuses with which a server refuses this client only. */
const REFUSALS = [401, 403, 405, 429, 999];

/** @typedef {{ status_code: number | null, latency_ms: number | null }} Check */

/** @param {Pick<Check, 'status_code'>} check */
export const isGood = ({ status_code: status }) => status !== null && (status < 400 || REFUSALS.includes(status));

/** One that has failed has no latency: only how long it was waited for. @param {Check} check */
export const latencyOf = (check) => (isGood(check) ? check.latency_ms : null);

/** @param {Check | null | undefined} check */
export function latencyText(check) {
  const latency = check ? latencyOf(check) : null;
  return latency === null ? '' : `${number(latency)} ms`;
}
