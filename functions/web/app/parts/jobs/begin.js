// How a job is begun: many links are changed by it, also while nobody looks.

import { ApiError, call } from '../../core/api.js';
import { invalidate } from '../../core/resource.js';
import { mayAct } from '../../core/session.js';
import { ask } from '../../ui/dialog.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { follow } from './followed.js';
import { questionOf } from './words.js';

/** @typedef {import('./words.js').Job} Job */
/** @typedef {import('./words.js').JobBody} JobBody */

/** How many links it would change. @param {JobBody} body @returns {Promise<{ matching: number, is_exact: boolean }>} */
export const countJob = (body) => call('POST /api/jobs', { body: { ...body, dry_run: true } });

/** @param {JobBody} body @returns {Promise<Job>} */
export const beginJob = (body) => begun(() => call('POST /api/jobs', { body }));

/**
 * Begins a job and follows it.
 * @param {() => Promise<Job>} send
 */
export async function begun(send) {
  try {
    const job = await send();
    follow([job]);
    return job;
  } finally {
    // If the answer was lost, the list has it.
    invalidate('jobs');
  }
}

/**
 * Counts the links, asks, and begins. What fails is said.
 * @param {JobBody} body
 * @param {(body: JobBody) => void} onUnproven is told if it takes a proof of who one is
 * @returns {Promise<Job | undefined>} nothing if it wasn't begun
 */
export async function askAndBegin(body, onUnproven) {
  try {
    const count = await countJob(body);
    if (count.matching === 0) toast('No links match anymore.');
    else if (await ask(questionOf(body, count, !mayAct('admin')))) return await beginJob(body);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'proof_required') onUnproven(body);
    else notBegun(error);
  }
  return undefined;
}

/** @param {unknown} error */
export function notBegun(error) {
  const isKnown = error instanceof ApiError && error.kind === 'problem';
  toastFailure(isKnown ? 'Couldn’t start the job.' : 'The job may not have started.', error);
}
