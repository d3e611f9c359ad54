// The jobs of the workspace, the newest first.

import { html, useEffect, useRef } from '../../vendor/preact.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { Further, useFurther } from '../../parts/further/further.js';
import { JobProgress, noteEnd, readJobs, useJobs } from '../../parts/jobs/jobs.js';
import { isOver } from '../../parts/jobs/words.js';
import { Card } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';

/** @typedef {import('../../parts/jobs/words.js').Job} Job */
/** @typedef {{ jobs: Job[], next_cursor: string | null }} JobList */

export function Jobs() {
  const first = useJobs();
  return html`<${Card} title="Jobs" class="flush job-list">
    <${Loaded} of=${first} what="Couldn’t load the jobs.">${(/** @type {JobList} */ list) => html`<${JobsView} first=${list} />`}<//>
  <//>`;
}

/** @param {{ first: JobList }} props */
function JobsView({ first }) {
  const wanted = useStore(route).query.get('job');
  const list = useFurther('jobs', readJobs, first);
  /** @type {Job[]} */
  const jobs = list.rows;
  const isListed = jobs.some(({ id }) => id === wanted);
  if (jobs.length === 0 && !wanted) {
    return html`<p class="muted job-none">No jobs yet. Changes to many links at once, such as renaming a tag, are listed here for 30 days.</p>`;
  }
  return html`<${Further} of=${list} one="job" many="jobs">
    <ul>
      ${wanted && !isListed && html`<${Entry} key=${wanted} id=${wanted} isWanted />`}
      ${jobs.map((job, at) => html`<${Entry} key=${job.id} id=${job.id} job=${job} ahead=${jobs.slice(at + 1).filter((other) => !isOver(other)).length} isWanted=${job.id === wanted} />`)}
    </ul>
  <//>`;
}

/** @param {{ id: string, job?: Job, ahead?: number, isWanted: boolean }} props `isWanted` says that the address names it */
function Entry({ id, job, ahead, isWanted }) {
  const item = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!isWanted) return undefined;
    // Once the page has begun at its top.
    const timer = setTimeout(() => item.current?.scrollIntoView({ block: 'center' }));
    return () => clearTimeout(timer);
  }, [isWanted]);
  return html`<li ref=${item} class=${isWanted ? 'job-wanted' : ''} aria-current=${isWanted || undefined}><${JobProgress} id=${id} job=${job} ahead=${ahead} isListed onEnd=${noteEnd} /></li>`;
}
