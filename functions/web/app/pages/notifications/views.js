// What can be chosen above the list. It is in the address as `kind`.

import { NEWS } from '../../core/notifications.js';

/** @typedef {{ value: string, label: string, kinds: string[], nothing: string }} View `kinds` are those that are read; none is all */

/** @type {View[]} */
export const VIEWS = [
  { value: '', label: 'Important', kinds: NEWS, nothing: 'No notifications yet' },
  { value: 'problem', label: 'Problems', kinds: ['problem'], nothing: 'No problems' },
  { value: 'milestone', label: 'Milestones', kinds: ['milestone'], nothing: 'No milestones yet' },
  { value: 'deletion', label: 'Deleted links', kinds: ['deletion'], nothing: 'No deleted links' },
  { value: 'change', label: 'Changed by others', kinds: ['change'], nothing: 'Nobody has changed your links' },
  { value: 'job', label: 'Jobs', kinds: ['job'], nothing: 'No finished jobs yet' },
  { value: 'all', label: 'All', kinds: [], nothing: 'No notifications yet' },
];

/** Whether it has all that counts as new. @param {View} view */
export const hasAllNews = (view) => NEWS.every((kind) => view.kinds.length === 0 || view.kinds.includes(kind));
