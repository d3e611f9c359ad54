// The jobs of the workspace, the newest first.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { route } from '../../core/router.js';
import { useStore } from '../../core/store.js';
import { JobProgress, noteEnd, readJobs, useJobs } from '../../parts/jobs/jobs.js';
import { isOver } from '../../parts/jobs/words.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../parts/jobs/words.js').Job} Job */
/** @typedef {{ jobs: Job[], next_cursor: string | null }} JobList */

export function Jobs() {
  const first = useJobs();
  return html`<${Card} title="Jobs" class="flush job-list">
    <${Loaded} of=${first} what="The jobs can’t be shown.">${(/** @type {JobList} */ list) => html`<${JobsView} first=${list} />`}<//>
  <//>`;
}

/** @param {{ first: JobList }} props */
function JobsView({ first }) {
  const wanted = useStore(route).query.get('job');
  const { jobs, cursor, more, isBusy } = useFurtherJobs(first);
  const isListed = jobs.some(({ id }) => id === wanted);
  if (jobs.length === 0 && !wanted) {
    return html`<p class="muted job-none">None yet. What changes many links at once, such as another name for a tag, is listed here for 30 days.</p>`;
  }
  return html`<ul>
      ${wanted && !isListed && html`<${Entry} key=${wanted} id=${wanted} isWanted />`}
      ${jobs.map((job, at) => html`<${Entry} key=${job.id} id=${job.id} job=${job} ahead=${jobs.slice(at + 1).filter((other) => !isOver(other)).length} isWanted=${job.id === wanted} />`)}
    </ul>
    ${cursor && html`<p class="row centred job-more"><${Button} class="compact" isBusy=${isBusy} onClick=${more}>Load more<//></p>`}`;
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

/** The first page, which is read again when a job ends, and those that were asked for. @param {JobList} first */
function useFurtherJobs(first) {
  const [further, setFurther] = useState(/** @type {JobList | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const cursor = (further ?? first).next_cursor;
  const known = new Set(first.jobs.map(({ id }) => id));

  async function more() {
    if (!cursor) return;
    setBusy(true);
    try {
      const page = await readJobs(cursor);
      setFurther({ jobs: [...(further?.jobs ?? []), ...page.jobs], next_cursor: page.next_cursor });
    } catch (error) {
      toastFailure('No more could be loaded.', error);
    } finally {
      setBusy(false);
    }
  }

  return { jobs: [...first.jobs, ...(further?.jobs ?? []).filter(({ id }) => !known.has(id))], cursor, more, isBusy };
}
