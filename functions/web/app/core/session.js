// Who is signed in, in which workspace. The token is in this tab's sessionStorage; a further tab asks the ones that are open, and
// after them the server, if somebody stays signed in here.

import { basePath } from './address.js';
import { ApiError, call, identity } from './api.js';
import { alone, claimsOf, isRemembered, refreshToken, setRemembered } from './renewal.js';
import { forgetResources } from './resource.js';
import { followSlug, here, href, navigate, route } from './router.js';
import { createStore } from './store.js';

const SESSION_KEY = `linklet:session:${basePath}`;
const HAND_OVER_MS = 150;
const TRY_AGAIN_MS = 5_000;
/** How long before its end a token is renewed, and how long after a failure that is tried again. */
const AHEAD_MS = 5 * 60_000;
const RENEW_AGAIN_MS = 30_000;

/** @typedef {'viewer' | 'member' | 'admin'} RoleName */
/** @typedef {{ user_id: string, email: string, workspace_id: string | null, role: RoleName | null, full_name?: string | null, verified?: boolean, last_login_at?: string | null, pending_email?: string | null, pending_until?: string | null, undeliverable?: boolean }} Me */
/** @typedef {{ workspace_id: string, name: string, slug: string, role: string, joined_at: string, paused_at: string | null, closed_at: string | null, restorable_until: string | null }} MyWorkspace */
/** @typedef {{ token: string, expires_at: string, email?: string, slug?: string, isNowhere?: boolean, isRemembered?: boolean }} Kept what is kept of a session */

/**
 * `starting`: nobody knows yet. `out`: nobody is signed in. `in`: somebody is. `over`: somebody was, and may go on with their
 * password. `visit` counts the workspaces that were entered and the sessions that were ended, so that nothing of one is shown in the next.
 * @typedef {object} Session
 * @property {'starting' | 'out' | 'in' | 'over'} status
 * @property {string} email
 * @property {Me} [me]
 * @property {MyWorkspace[]} [workspaces]
 * @property {string} [slug] of the workspace that one is in, as far as is known
 * @property {boolean} isNowhere whether the session is for no workspace, as far as is known
 * @property {boolean} [hasFailed] whether it couldn't be read who that is
 * @property {number} [removals] how often the workspace was found to be closed, or oneself no member of it any more, so that one went to another one
 * @property {string} [lost] the slug of the last one that was left like that
 * @property {number} visit
 * @property {boolean} [isNewcomer] whether somebody has just made their account
 */

export const session = createStore(/** @type {Session} */ ({ status: 'starting', email: '', isNowhere: false, visit: 0 }));

/** @type {Kept | undefined} */
let kept;
/** @type {{ promise: Promise<void>, resolve: () => void, reject: (error: Error) => void } | undefined} */
let renewal;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let renewing;
const channel = new BroadcastChannel(SESSION_KEY);

identity.token = () => kept?.token;
identity.renew = () => {
  if (renewal) return renewal.promise;
  const { promise } = (renewal = deferred());
  renewQuietly().then(
    (isRenewed) => isRenewed || session.set({ status: 'over' }),
    // It may still be good, as soon as the API can be reached.
    (error) => endRenewal(error),
  );
  return promise;
};
here.slug = () => session.get().slug;
// A page may learn it sooner than this module does, or later, when another session has begun.
identity.onNowhere = (token) => {
  if (token !== kept?.token) return;
  session.set({ isNowhere: true });
  keepWhere();
};

function deferred() {
  let resolve = () => {};
  let reject = /** @type {(error: Error) => void} */ (() => {});
  const promise = /** @type {Promise<void>} */ (new Promise((yes, no) => ((resolve = yes), (reject = no))));
  return { promise, resolve, reject };
}

/** @param {Error} [error] why the calls that wait for another token fail; without one, they go on */
function endRenewal(error) {
  if (error) renewal?.reject(error);
  else renewal?.resolve();
  renewal = undefined;
}

/** @param {number} ms */
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Takes the session of this tab, or else that of another one, or else the one that is remembered. */
export async function start() {
  channel.onmessage = ({ data }) => hear(data);
  const stored = read();
  if (stored) return adopt(stored);
  // Who has just signed in elsewhere is whom the cookie says, and not whom another tab has.
  if (route.get().parts[0] !== 'signed-in') {
    channel.postMessage({ type: 'ask' });
    await pause(HAND_OVER_MS);
  }
  if (session.get().status === 'starting') return recall();
}

/** Takes the session that is remembered. As long as the API can't be reached, nobody knows whether there is one. */
export async function recall() {
  try {
    await alone(async () => {
      // Another tab may have been faster.
      if (session.get().status !== 'starting') return;
      const answer = isRemembered() && (await refreshToken(route.get().workspace));
      if (!answer) return session.set({ status: 'out' });
      give({ ...answer, isRemembered: true });
      // The others hear of it before one of them asks the server, too.
      return pause(HAND_OVER_MS);
    });
  } catch {
    session.set({ hasFailed: true });
    await pause(TRY_AGAIN_MS);
    await recall();
  }
}

/**
 * Gets another token for the session of this tab, once for all tabs.
 * @returns {Promise<boolean>} whether there is one
 */
async function renewQuietly() {
  const before = kept;
  if (!before?.isRemembered || !isRemembered()) return false;
  return alone(async () => {
    if (kept !== before) return kept !== undefined;
    const answer = await refreshToken(session.get().slug);
    if (!answer || kept !== before) return false;
    const [was, is] = [claimsOf(before.token), claimsOf(answer.token)];
    // In another tab, somebody else has signed in.
    if (was.sub !== is.sub) return false;
    if (was.ws !== is.ws) {
      goElsewhere(answer);
    } else {
      keep({ ...before, ...answer });
      channel.postMessage({ type: 'give', kept });
    }
    await pause(HAND_OVER_MS);
    return true;
  });
}

/** Renews the token before it ends. What fails is tried again, and otherwise the next call finds out. */
function renewInTime() {
  clearTimeout(renewing);
  if (!kept?.isRemembered || !isRemembered()) return;
  const ms = Date.parse(kept.expires_at) - Date.now() - AHEAD_MS;
  renewing = setTimeout(() => renewQuietly().catch(() => {}).then(renewInTime), Math.max(ms, RENEW_AGAIN_MS));
}

/** @returns {Kept | undefined} */
function read() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(SESSION_KEY) ?? 'null');
    return stored && Date.parse(stored.expires_at) > Date.now() ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** @param {{ type: string, kept?: Kept }} message */
function hear({ type, kept: given }) {
  const { status } = session.get();
  if (type === 'ask' && kept && status === 'in') channel.postMessage({ type: 'give', kept });
  const isSame = given && kept && isAlike(given, kept);
  if (given && (status === 'starting' || status === 'out' || (status === 'over' && isSame))) adopt(given);
  if (status === 'in' && isSame && given.isRemembered && kept?.isRemembered) keep({ ...kept, ...given });
  if (type === 'out' && status !== 'out') forget();
}

/** Whether two tokens are of the same person, whose address may have changed, in the same workspace. @param {{ token: string }} one @param {{ token: string }} other */
function isAlike(one, other) {
  const [was, is] = [claimsOf(one.token), claimsOf(other.token)];
  return was.sub === is.sub && was.ws === is.ws;
}

/** @param {Kept} given */
function adopt(given) {
  keep(given);
  session.set({ status: 'in', email: given.email ?? session.get().email, slug: given.slug, isNowhere: given.isNowhere ?? session.get().isNowhere });
  return refreshMe();
}

/** Goes on with another token. @param {Kept} given */
function keep(given) {
  kept = given;
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(given));
  endRenewal();
  renewInTime();
}

function forget() {
  kept = undefined;
  clearTimeout(renewing);
  dropKept();
  endRenewal(new ApiError('problem', 'You’re signed out.', { status: 401, code: 'signed_out' }));
  forgetResources();
  session.set({ status: 'out', email: '', slug: undefined, me: undefined, workspaces: undefined, isNowhere: false, visit: session.get().visit + 1 });
}

/** Keeps nothing of a session that is over, should the page be loaded again. */
export const dropKept = () => sessionStorage.removeItem(SESSION_KEY);

/** Looks up who is signed in, and which workspaces they have. */
export async function refreshMe() {
  try {
    const [me, mine] = await Promise.all([call('GET /api/me'), call('GET /api/me/workspaces')]);
    session.set({ me, email: me.email, workspaces: mine.workspaces, isNowhere: me.workspace_id === null, hasFailed: false });
    keepWhere();
  } catch {
    // Each page says by itself that the API can't be reached.
    session.set({ hasFailed: true });
    setTimeout(() => session.get().status === 'in' && session.get().hasFailed && refreshMe(), TRY_AGAIN_MS);
  }
}

/** Takes note of who one is now: the address may have changed. @param {Me} me */
export function noteMe(me) {
  session.set({ me, email: me.email });
  keepWhere();
}

/** Keeps whose session it is and for which workspace, or that it is for none: loaded again, the page begins with the right view. */
function keepWhere() {
  if (!kept) return;
  const slug = currentWorkspace()?.slug ?? kept.slug;
  const { email, isNowhere } = session.get();
  kept = { ...kept, email, isNowhere, slug };
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(kept));
  const { slug: before } = session.get();
  if (before === slug) return;
  session.set({ slug });
  if (before && slug) followSlug(before, slug);
}

/** The workspace of the token, once it is known. */
export function currentWorkspace() {
  const { me, workspaces } = session.get();
  return workspaces?.find((workspace) => workspace.workspace_id === me?.workspace_id);
}

/** Whether one can be in it. @param {MyWorkspace} workspace */
export const isOpen = ({ paused_at, closed_at }) => !paused_at && !closed_at;

/** Another workspace that one can be in, if there is one. */
export function otherWorkspace() {
  const here = currentWorkspace();
  return session.get().workspaces?.find((workspace) => workspace !== here && isOpen(workspace));
}

/**
 * @param {string} email
 * @param {string} password
 * @param {boolean} [remember] whether one stays signed in
 */
export async function signIn(email, password, remember = false) {
  const answer = await logIn(email, password, remember);
  await give({ ...answer, email: email.trim(), isRemembered: remember });
}

/** @param {string} email @param {string} password @param {boolean} remember */
async function logIn(email, password, remember) {
  const body = { email, password, remember: remember || undefined };
  const answer = await call('POST /api/auth/login', { anonymous: true, withCookie: remember, body });
  if (remember) setRemembered(true);
  return answer;
}

/** Takes a session, and gives it to the other tabs. @param {Kept} taken */
function give(taken) {
  channel.postMessage({ type: 'give', kept: taken });
  return adopt(taken);
}

/**
 * Goes on with a session that is over, in the same workspace. Who was removed from it can't enter it any more, nor can anybody if
 * it is closed: they go on in another one. The password is sent once, without the workspace: sent to one that is refused it would have to be sent again, and
 * a wrong one would count as two guesses.
 * @param {string} password
 * @param {string} [email] another address, if it was changed elsewhere
 */
export async function signInAgain(password, email = session.get().email) {
  const { slug, email: before } = session.get();
  const wasRemembered = kept?.isRemembered ?? false;
  const answer = await logIn(email, password, wasRemembered);
  if (email !== before && kept && claimsOf(kept.token).sub !== claimsOf(answer.token).sub) {
    // What is on the page is nobody else's business.
    await call('POST /api/auth/logout', { token: answer.token, withCookie: wasRemembered, body: {} });
    throw new ApiError('problem', 'That’s a different account. Sign out to use it.', { field: 'email' });
  }
  try {
    const there = slug ? await call('POST /api/auth/switch', { token: answer.token, body: { workspace: slug } }) : answer;
    await give({ ...there, email, slug, isRemembered: wasRemembered });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'workspace_not_found') throw error;
    await goElsewhere(answer);
  }
}

/** Goes to another workspace, since the present one was closed, or one was removed from it. @param {{ token: string, expires_at: string }} answer */
async function goElsewhere(answer) {
  const { isNowhere, removals = 0, slug } = session.get();
  // What was being done belongs to the workspace that is left.
  endRenewal(new ApiError('problem', 'You no longer have access to that workspace.', { status: 401, code: 'signed_out' }));
  await enter(answer);
  if (!isNowhere) session.set({ removals: removals + 1, lost: slug });
}

/** @param {string} slug */
export async function switchWorkspace(slug) {
  await enter(await call('POST /api/auth/switch', { body: { workspace: slug } }), slug);
}

/**
 * Goes to another workspace of the same person: to its links, unless the address is there already.
 * @param {{ token: string, expires_at: string }} answer
 * @param {string} [slug] if it is known
 */
export function enter(answer, slug) {
  forgetResources();
  const { workspace, parts } = route.get();
  // An invitation that was used leads nowhere.
  if (!slug || workspace !== slug) navigate(href('links', {}, slug ?? ''), { replace: parts[0] === 'invitation' });
  session.set({ me: undefined, isNowhere: false, visit: session.get().visit + 1 });
  return adopt({ ...answer, email: session.get().email, slug, isRemembered: kept?.isRemembered });
}

/**
 * @param {{ everywhere?: boolean }} [options] `everywhere` throws what went wrong, and nothing has changed then
 */
export async function signOut({ everywhere = false } = {}) {
  if (session.get().status === 'in') {
    await call('POST /api/auth/logout', { withCookie: kept?.isRemembered, body: { everywhere } }).catch((error) => {
      // Here, the token is forgotten whatever the server says; it ends by itself within a day.
      if (everywhere) throw error;
    });
  }
  endSession();
}

/** Ends the session in all tabs, and for good. */
export function endSession() {
  if (kept?.isRemembered) setRemembered(false);
  leaveTabs();
}

/** Ends the session in all tabs. */
export function leaveTabs() {
  channel.postMessage({ type: 'out' });
  forget();
}

/** A token for whichever workspace there is, or for none. @param {string} [password] without it, only a session that is remembered has one */
export async function tokenForAny(password) {
  const isKept = kept?.isRemembered ?? false;
  return (isKept && (await refreshToken())) || (password && logIn(session.get().email, password, isKept));
}

/**
 * Takes note of one's own new role here, since the API may still name the former one for a minute.
 * @param {RoleName} role
 */
export function noteRole(role) {
  const { me, workspaces } = session.get();
  if (!me) return;
  const here = currentWorkspace();
  session.set({ me: { ...me, role }, workspaces: workspaces?.map((one) => (one === here ? { ...one, role } : one)) });
}

/**
 * Whether the person may do what needs this role. Unknown is yes: the API decides anyway. Who is in no workspace may do nothing.
 * @param {RoleName} role
 */
export function mayAct(role) {
  const order = ['viewer', 'member', 'admin'];
  const { me, isNowhere } = session.get();
  if (isNowhere || me?.role === null) return false;
  return me === undefined || order.indexOf(me.role) >= order.indexOf(role);
}
