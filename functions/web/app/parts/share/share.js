// Sharing the statistics of a link or a tag with people who have no account.

export { ShareDialog } from './dialog.js';
export { endAsked, ShareLines } from './lines.js';
