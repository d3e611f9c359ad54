import { html, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { number } from '../../core/format.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { useId } from '../../ui/field.js';
import { Failure, Skeleton, SkeletonText } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { toastFailure } from '../../ui/toast.js';
import { isOfWholeTag } from './same-tag.js';
import { endOf, failureWords, filterWords, isOver, plain, progressOf, shareOf, STATES, titleOf, Words } from './words.js';

/** @typedef {import('./words.js').Job} Job */
/** @typedef {import('../../core/resource.js').Resource<Job>} JobResource */

const READ_EVERY_MS = 2_000;
const VIEW_HEIGHT = 84;
/** How often its progress is said aloud: at each quarter. */
const QUARTERS = 4;

/** Members stop what they have begun, admins everything. @param {Job} job */
const mayStop = ({ created_by }) => mayAct('admin') || (mayAct('member') && created_by === session.get().me?.user_id);

/**
 * A job as it is now: read again and again until it is over.
 * @param {string} id
 * @param {Job | undefined} given what is known of it
 * @param {(job: Job) => void} [onEnd] is told when it ends
 */
export function useJob(id, given, onEnd) {
  const [phase, setPhase] = useState(given && isOver(given) ? 'over' : 'live');
  /** @type {JobResource} */
  const resource = useResource(phase === 'live' ? `job:${id}` : null, () => call('GET /api/jobs/{id}', { path: { id } }), { everyMs: READ_EVERY_MS });
  const last = useRef(given);
  last.current = resource.data ?? last.current;
  const job = last.current;
  const hasEnded = job !== undefined && isOver(job);
  const isGone = resource.error?.status === 404;
  useEffect(() => {
    if (phase !== 'live' || !(hasEnded || isGone)) return;
    setPhase(hasEnded ? 'over' : 'gone');
    if (hasEnded) onEnd?.(job);
  }, [hasEnded, isGone]);
  return { job, isGone: phase === 'gone', resource };
}

/**
 * What a job does, how far it has come, and the way to stop it.
 * @param {{ id?: string, job?: Job, ahead?: number, isListed?: boolean, onEnd?: (job: Job) => void, onHide?: () => void }} props `ahead` is how many come before it while it waits
 */
export function JobProgress({ id, job: given, ahead, isListed, onEnd, onHide }) {
  const followed = useJob(given?.id ?? id ?? '', given, onEnd);
  if (followed.job) return html`<${JobView} ...${followed} job=${followed.job} ahead=${ahead} isListed=${isListed} onHide=${onHide} />`;
  const { error, reload } = followed.resource;
  if (followed.isGone) return html`<p class="muted">${GONE}</p>`;
  return error ? html`<${Failure} what="Couldn’t load the job." error=${error} retry=${reload} />` : html`<${Skeleton} height=${VIEW_HEIGHT} />`;
}

const GONE = 'Job not found. Jobs are kept for 30 days.';

/** @param {{ job: Job, isGone: boolean, resource: JobResource, ahead?: number, isListed?: boolean, onHide?: () => void }} props `isListed` says when it was begun, and by whom */
export function JobView({ job, isGone, resource, ahead = 0, isListed = false, onHide }) {
  const id = useId('job');
  const [isStopping, setStopping] = useState(false);
  const [wasOver] = useState(isOver(job));
  const title = titleOf(job);
  const name = plain(title);
  const isDone = isGone || isOver(job);
  const state = isStopping && job.state === 'running' ? 'cancelling' : job.state;
  const text = isGone ? GONE : isOver(job) ? endOf(job) : progressOf(job, ahead);
  const group = useRef(/** @type {HTMLElement | null} */ (null));
  const hadFocus = group.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    // The button that had it is gone.
    if (isDone && hadFocus && document.activeElement === document.body) group.current?.focus();
  }, [isDone]);

  async function stop() {
    if (isStopping) return;
    setStopping(true);
    try {
      const stopped = await call('DELETE /api/jobs/{id}', { path: { id: job.id } });
      // It may be forgotten since.
      if (stopped) resource.change(() => stopped);
      else await resource.reload();
    } catch (error) {
      setStopping(false);
      toastFailure('Couldn’t stop the job.', error);
      await resource.reload();
    }
  }

  return html`<div class="job" role="group" aria-labelledby=${id} tabindex="-1" ref=${group}>
    <div class="job-head">
      <p class="job-title" id=${id}><${Words} of=${title} /></p>
      ${isDone
        ? !isGone && html`<${Status} tone=${STATES[state].tone}>${STATES[state].word}<//>`
        : mayStop(job) &&
          html`<${Button} class="compact" isBusy=${isStopping} aria-disabled=${isStopping || undefined} onClick=${stop}>${state === 'cancelling' ? 'Stopping' : 'Stop'}<span class="hidden"> ${name}</span><//>`}
      ${onHide && html`<${Button} class="compact" kind="quiet" icon="close" label=${`Hide ${name}`} onClick=${onHide} />`}
    </div>
    ${!isDone && html`<${Bar} job=${job} text=${text} labelledby=${id} />`}
    <p class="job-line"><span class="job-text">${text}</span><${About} job=${job} isListed=${isListed} /></p>
    ${resource.error && !isDone && html`<p class="small-print">Couldn’t load the progress. The job is still running.</p>`}
    <${JobFailures} job=${job} />
    <${Said} text=${isDone ? (isListed && !wasOver ? text : '') : spokenOf(job, ahead)} />
  </div>`;
}

/** @param {{ job: Job, text: string, labelledby: string }} props */
function Bar({ job, text, labelledby }) {
  const share = shareOf(job);
  const classes = `job-bar ${share ? '' : job.state === 'queued' ? 'still' : 'unknown'}`;
  return html`<div
    class=${classes}
    role="progressbar"
    aria-labelledby=${labelledby}
    aria-valuemin=${share && 0}
    aria-valuemax=${share?.most}
    aria-valuenow=${share?.value}
    aria-valuetext=${text}
  >
    <span style=${{ width: share ? `${(100 * share.value) / share.most}%` : undefined }}></span>
  </div>`;
}

/** Which links, who wanted it, and when. @param {{ job: Job, isListed: boolean }} props */
function About({ job, isListed }) {
  const { me } = session.get();
  const wanted = job.filter?.created_by;
  const isMine = job.created_by === me?.user_id;
  const isNameless = !isMine && !job.created_by_name;
  const members = useMembers({ isWanted: isNameless || (wanted !== undefined && wanted !== me?.user_id) });
  const memberName = (/** @type {string | undefined} */ id) => nameOf(members.data?.members.find((/** @type {any} */ { user_id }) => user_id === id));
  const words = isOfWholeTag(job) ? [] : filterWords(job.filter, wanted === me?.user_id ? 'you' : memberName(wanted));
  const creatorName = isNameless && members.isLoading ? html`<${SkeletonText} />` : html`<bdi>${job.created_by_name || memberName(job.created_by)}</bdi>`;
  const parts = [
    words.length > 0 && html`<${Words} of=${words} />`,
    (isListed || !isMine) && (isMine ? 'You' : creatorName),
    isListed && html`<${Time} at=${job.created_at} />`,
  ].filter(Boolean);
  return html`<span class="muted">${parts.map((part, at) => html`${at > 0 && ' · '}${part}`)}</span>`;
}

/** The links that couldn't be changed, and why. @param {{ job: Job }} props */
function JobFailures({ job }) {
  const { failures, failed } = job;
  if (failures.length === 0) return null;
  const more = Math.max(failed - failures.length, 0);
  return html`<details class="job-failures">
    <summary>Links that couldn’t be changed</summary>
    <ul>
      ${failures.map((failure) => html`<li key=${failure.short_code}><a href=${href(`links/${failure.short_code}`)}>${failure.short_code}</a> <span class="muted">${failureWords(failure)}</span></li>`)}
      ${more > 0 && html`<li class="muted">and ${number(more)} more</li>`}
    </ul>
  </details>`;
}

/** What is said aloud: not each number. @param {Job} job @param {number} ahead */
function spokenOf(job, ahead) {
  const share = shareOf(job);
  const quarter = share && Math.floor((QUARTERS * share.value) / share.most);
  const words = quarter === undefined ? (job.state === 'queued' ? progressOf(job, ahead) : STATES[job.state].word) : `${(100 * quarter) / QUARTERS}%`;
  return `${plain(titleOf(job))}: ${words}`;
}

/** A screen reader hears only what comes into a region that is there before. @param {{ text: string }} props */
function Said({ text }) {
  const [said, setSaid] = useState('');
  useEffect(() => setSaid(text), [text]);
  return html`<p class="hidden" role="status">${said}</p>`;
}
