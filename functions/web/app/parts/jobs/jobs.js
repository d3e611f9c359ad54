// Jobs: what is done to many links, also while nobody looks. It is begun here, and its progress is shown.

export { askAndBegin, beginJob, begun, countJob, notBegun } from './begin.js';
export { JobProgress } from './progress.js';
export { noteEnd, readJobs, RunningJobs, useJobs } from './running.js';
