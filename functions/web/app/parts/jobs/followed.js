// The jobs that are followed here, from one page to the next. One that has ended stays known, so that its end is told once, whatever a list
// of jobs says that was read before.

import { session } from '../../core/session.js';
import { createStore, useStore } from '../../core/store.js';
import { isOver } from './words.js';

/** @typedef {import('./words.js').Job} Job */
/** @typedef {{ job: Job, isHidden: boolean }} Followed a job, as it was when it was begun or when it ended */

const followed = createStore({ visit: 0, list: /** @type {Followed[]} */ ([]) });

const current = () => (followed.get().visit === session.get().visit ? followed.get().list : []);

/** @param {Followed[]} list */
const keep = (list) => followed.set({ visit: session.get().visit, list });

/** Follows those that run or wait, the oldest first. @param {Job[]} jobs */
export function follow(jobs) {
  const known = current();
  const others = jobs.filter((job) => !isOver(job) && !known.some((one) => one.job.id === job.id));
  const list = [...known, ...others.map((job) => ({ job, isHidden: false }))];
  if (others.length > 0) keep(list.sort((a, b) => a.job.created_at.localeCompare(b.job.created_at) || a.job.id.localeCompare(b.job.id)));
}

/** @param {string} id @param {Partial<Followed>} change */
export const noteFollowed = (id, change) => keep(current().map((one) => (one.job.id === id ? { ...one, ...change } : one)));

export function useFollowed() {
  useStore(session);
  useStore(followed);
  return current();
}
