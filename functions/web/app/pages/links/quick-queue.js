// The links that were asked for and aren't there yet. They are made one after another, so that the next address can be pasted
// meanwhile. What is typed and what waits stays while other pages are shown, and belongs to one workspace.

import { ApiError, call } from '../../core/api.js';
import { guessUrl } from '../../core/address.js';
import { noteChange, noteMade, readMade, wordsOfMade } from '../../core/lists.js';
import { newId } from '../../core/random.js';
import { invalidate } from '../../core/resource.js';
import { session } from '../../core/session.js';
import { createStore } from '../../core/store.js';
import { guardChanges } from '../../core/version.js';
import { copyText } from '../../ui/copy.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Link} Link */
/** @typedef {{ typed: string, url: string, id: string, error?: ApiError }} QueuedUrl `id` stays the same, should an answer have been lost */

/**
 * What shows the links that were made.
 * @typedef {{ onLink: (link: Link) => void, onUndone: (code: string) => void, edit: (link: Link) => void }} Place
 */

/** @typedef {{ text: string, error: ApiError | undefined, queue: QueuedUrl[] }} Quick `error` is about the text; those of the queue that have failed have their own */

/** @type {Quick} */
const NOTHING = { text: '', error: undefined, queue: [] };

export const quick = createStore(NOTHING);

/** The places that are shown. @type {Set<{ current: Place }>} */
export const places = new Set();
const place = () => [...places].pop()?.current;

/** The one that the text in the field was, before it was given back. @type {QueuedUrl | undefined} */
let returned;
let isMaking = false;

let visit = session.get().visit;
session.subscribe(() => {
  if (visit === session.get().visit) return;
  visit = session.get().visit;
  quick.set(NOTHING);
});
guardChanges(() => quick.get().queue.length > 0);

/** Makes a link of what is typed, once those before it are made. */
export function makeLink() {
  const { text, queue } = quick.get();
  const url = guessUrl(text);
  if (url) {
    const wanted = returned?.url === url ? returned : { typed: text, url, id: newId() };
    quick.set({ text: '', error: undefined, queue: [...queue, wanted] });
    void makeAll();
  } else if (text.trim() || queue.length === 0) {
    quick.set({ error: new ApiError('problem', 'Enter a URL that starts with http:// or https://.') });
  }
}

/** Tries all again that have failed. */
export function tryAgain() {
  quick.set({ queue: quick.get().queue.map((wanted) => ({ ...wanted, error: undefined })) });
  void makeAll();
}

/** @param {QueuedUrl} wanted */
export const giveUp = (wanted) => quick.set({ queue: quick.get().queue.filter(({ id }) => id !== wanted.id) });

/** Empties the field, if nothing else was typed since. @param {string} text */
export function emptyField(text) {
  if (quick.get().text === text) quick.set({ text: '' });
}

const waiting = () => quick.get().queue.filter(({ error }) => !error);

async function makeAll() {
  if (isMaking) return;
  isMaking = true;
  for (let [next] = waiting(); next; [next] = waiting()) await make(next);
  isMaking = false;
}

/** @param {QueuedUrl} wanted */
async function make(wanted) {
  const before = visit;
  try {
    const made = await call('POST /api/shorten', { body: { url: wanted.url }, idempotencyKey: wanted.id });
    giveUp(wanted);
    if (before === visit) void announce(made);
  } catch (error) {
    if (before !== visit) return;
    const failure = error instanceof ApiError ? error : new ApiError('broken', 'Something went wrong.');
    if (failure !== error) console.error(error);
    // What would fail as well isn't tried.
    for (const one of failure.isTemporary ? waiting() : [wanted]) giveBack(one, failure);
  }
}

/** Back into the field, or if something else is in it, below. @param {QueuedUrl} wanted @param {ApiError} error */
function giveBack(wanted, error) {
  const { text, queue } = quick.get();
  if (text === '') {
    returned = wanted;
    giveUp(wanted);
    quick.set({ text: wanted.typed, error });
  } else {
    quick.set({ queue: queue.map((one) => (one.id === wanted.id ? { ...wanted, error } : one)) });
  }
}

/** @param {any} made */
async function announce(made) {
  const isCopied = await copyText(made.short_url);
  const link = await readMade(made).catch(() => undefined);
  if (link) {
    noteMade(made, link);
    place()?.onLink(link);
  }
  invalidate('overview');
  const editing = link && place() ? [{ label: 'Edit', act: () => place()?.edit(link) }] : [];
  const copied = isCopied ? ' Copied.' : '';
  const text = `${wordsOfMade(made, link)}${copied}`;
  if (made.reused) toast(text, { actions: editing });
  else toast(text, { many: 'links created', actions: [...editing, { label: 'Undo', act: () => undo(made.short_code, link) }] });
}

/** @param {string} code @param {Link} [link] */
async function undo(code, link) {
  try {
    await call('DELETE /api/links/{code}', { path: { code } });
    if (link) noteChange(link);
    invalidate('overview');
    place()?.onUndone(code);
    toast('Link deleted.', { many: 'links deleted' });
  } catch (failure) {
    toastFailure('Couldn’t delete the link.', failure);
  }
}
