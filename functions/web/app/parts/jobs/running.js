import { html, useEffect, useRef } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { invalidate, useResource } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { toast } from '../../ui/toast.js';
import { forgetNumbers } from '../link-changes/link-changes.js';
import { follow, noteFollowed, useFollowed } from './followed.js';
import { JobView, useJob } from './progress.js';
import { endOf, isOver } from './words.js';

/** @typedef {import('./words.js').Job} Job */
/** @typedef {import('./followed.js').Followed} Followed */
/** @typedef {{ jobs: Job[], next_cursor: string | null }} JobList */

const AT_ONCE = 20;

/** @param {string} [after] @returns {Promise<JobList>} */
export const readJobs = (after) => call('GET /api/jobs', { query: { limit: AT_ONCE, after } });

/** The first of them, the newest first. */
export const useJobs = () => useResource('jobs', () => readJobs());

/** Reads again what a job has changed, once it has ended. @param {Job} job @param {boolean} [isHidden] whether no more is to be said of it */
export function noteEnd(job, isHidden = true) {
  forgetNumbers();
  invalidate('jobs');
  noteFollowed(job.id, { job, isHidden });
}

/**
 * What runs or waits in the workspace, for a page whose links it changes; nothing if that is nothing.
 * @param {{ onEnd?: (job: Job) => void }} props is told when one has ended, and reads again what isn't a resource
 */
export function RunningJobs({ onEnd }) {
  const { data } = useJobs();
  useEffect(() => {
    if (data) follow(data.jobs);
  }, [data]);
  const followed = useFollowed();
  const part = useRef(/** @type {HTMLElement | null} */ (null));
  const waiting = followed.filter(({ job }) => !isOver(job));

  /** Takes it away, and gives the focus to the heading if it was within. @param {() => void} change */
  function withFocus(change) {
    const hasFocus = part.current?.contains(document.activeElement);
    change();
    setTimeout(() => hasFocus && document.activeElement === document.body && /** @type {HTMLElement | null} */ (document.querySelector('main h1'))?.focus());
  }

  /** @param {Job} job @param {boolean} isHidden */
  function end(job, isHidden) {
    onEnd?.(job);
    // Somebody else's is of interest only while it can be seen.
    if (!isHidden && job.created_by === session.get().me?.user_id) toast(endOf(job), { tone: job.state === 'failed' ? 'bad' : 'plain' });
    withFocus(() => noteEnd(job, isHidden || !hasMoreToSay(job)));
  }

  return html`<section class="card flush jobs" aria-label="Jobs" hidden=${followed.every(({ isHidden }) => isHidden)} ref=${part}>
    ${followed.map(
      (one) => html`<${FollowedJob}
        key=${one.job.id}
        followed=${one}
        ahead=${waiting.indexOf(one)}
        onEnd=${(/** @type {Job} */ job) => end(job, one.isHidden)}
        onHide=${() => withFocus(() => noteFollowed(one.job.id, { isHidden: true }))}
      />`,
    )}
  </section>`;
}

/** Whether it has ended in a way that one wants to read. @param {Job} job */
const hasMoreToSay = (job) => job.state === 'failed' || job.failed > 0;

/** @param {{ followed: Followed, ahead: number, onEnd: (job: Job) => void, onHide: () => void }} props */
function FollowedJob({ followed, ahead, onEnd, onHide }) {
  const read = useJob(followed.job.id, followed.job, onEnd);
  return followed.isHidden ? null : html`<${JobView} ...${read} ahead=${ahead} onHide=${onHide} />`;
}
