// Who is signed in, in which workspace. The token is in this tab's sessionStorage; a further tab asks the ones that are open.

import { basePath } from './address.js';
import { ApiError, call, identity } from './api.js';
import { newId } from './random.js';
import { forgetResources } from './resource.js';
import { createStore } from './store.js';

const SESSION_KEY = `linklet:session:${basePath}`;
const HAND_OVER_MS = 150;
const TRY_AGAIN_MS = 5_000;

/** @typedef {'viewer' | 'member' | 'admin'} RoleName */
/** @typedef {{ user_id: string, email: string, workspace_id: string | null, role: RoleName | null, full_name?: string | null, verified?: boolean, last_login_at?: string | null }} Me */
/** @typedef {{ workspace_id: string, name: string, slug: string, role: string, paused_at?: string }} MyWorkspace */
/** @typedef {{ token: string, expires_at: string, email: string, slug?: string, isNowhere?: boolean }} Kept what is kept of a session */

/**
 * `starting`: nobody knows yet. `out`: nobody is signed in. `in`: somebody is. `over`: somebody was, and may go on with their
 * password. `visit` counts the workspaces that were entered, so that nothing of one is shown in the next.
 * @typedef {object} Session
 * @property {'starting' | 'out' | 'in' | 'over'} status
 * @property {string} email
 * @property {Me} [me]
 * @property {MyWorkspace[]} [workspaces]
 * @property {boolean} isNowhere whether the session is for no workspace, as far as is known
 * @property {boolean} [hasFailed] whether it couldn't be read who that is
 * @property {number} visit
 * @property {boolean} [isNewcomer] whether somebody has just made their account
 */

export const session = createStore(/** @type {Session} */ ({ status: 'starting', email: '', isNowhere: false, visit: 0 }));

/** @type {Kept | undefined} */
let kept;
/** @type {{ promise: Promise<void>, resolve: () => void, reject: (error: Error) => void } | undefined} */
let renewal;
let founding = { name: '', id: '' };
const channel = new BroadcastChannel(SESSION_KEY);

identity.token = () => kept?.token;
identity.renew = () => {
  renewal ??= deferred();
  session.set({ status: 'over' });
  return renewal.promise;
};
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

/** Takes the session of this tab, or else that of another one. */
export async function start() {
  channel.onmessage = ({ data }) => hear(data);
  const stored = read();
  if (stored) return adopt(stored);
  channel.postMessage({ type: 'ask' });
  await new Promise((done) => setTimeout(done, HAND_OVER_MS));
  if (session.get().status === 'starting') session.set({ status: 'out' });
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
  const { status, email } = session.get();
  if (type === 'ask' && kept && status === 'in') channel.postMessage({ type: 'give', kept });
  if (type === 'give' && given && (status === 'starting' || status === 'out')) adopt(given);
  if (type === 'give' && given && status === 'over' && given.email === email) adopt(given);
  if (type === 'out' && status !== 'out') forget();
}

/** @param {Kept} given */
function adopt(given) {
  kept = given;
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(given));
  session.set({ status: 'in', email: given.email, isNowhere: given.isNowhere ?? session.get().isNowhere });
  renewal?.resolve();
  renewal = undefined;
  return refreshMe();
}

function forget() {
  kept = undefined;
  sessionStorage.removeItem(SESSION_KEY);
  renewal?.reject(new ApiError('problem', 'You have signed out.', { status: 401, code: 'signed_out' }));
  renewal = undefined;
  forgetResources();
  session.set({ status: 'out', email: '', me: undefined, workspaces: undefined, isNowhere: false });
}

/** Looks up who is signed in, and which workspaces they have. */
export async function refreshMe() {
  try {
    const [me, mine] = await Promise.all([call('GET /api/me'), call('GET /api/me/workspaces')]);
    session.set({ me, workspaces: mine.workspaces, isNowhere: me.workspace_id === null, hasFailed: false });
    keepWhere();
  } catch {
    // Each page says by itself that the API can't be reached.
    session.set({ hasFailed: true });
    setTimeout(() => session.get().status === 'in' && session.get().hasFailed && refreshMe(), TRY_AGAIN_MS);
  }
}

/** Keeps for which workspace the session is, or that it is for none: loaded again, the page begins with the right view. */
function keepWhere() {
  if (!kept) return;
  kept = { ...kept, isNowhere: session.get().isNowhere, slug: currentWorkspace()?.slug ?? kept.slug };
  sessionStorage.setItem(SESSION_KEY, JSON.stringify(kept));
}

/** The workspace of the token, once it is known. */
export function currentWorkspace() {
  const { me, workspaces } = session.get();
  return workspaces?.find((workspace) => workspace.workspace_id === me?.workspace_id);
}

/**
 * @param {string} email
 * @param {string} password
 * @param {string} [workspace] a slug
 */
export async function signIn(email, password, workspace) {
  const answer = await call('POST /api/auth/login', { anonymous: true, body: { email, password, workspace } });
  await give({ ...answer, email: email.trim(), slug: workspace });
}

/** Takes a session, and gives it to the other tabs. @param {Kept} taken */
function give(taken) {
  channel.postMessage({ type: 'give', kept: taken });
  return adopt(taken);
}

/**
 * Goes on with a session that is over, in the same workspace. Who was removed from it can't enter it any more, and goes on in
 * another one. The password is sent once, without the workspace: sent to one that is refused it would have to be sent again, and
 * a wrong one would count as two guesses.
 * @param {string} password
 * @returns {Promise<boolean>} whether it is the same workspace
 */
export async function signInAgain(password) {
  const { email } = session.get();
  const slug = kept?.slug;
  const answer = await call('POST /api/auth/login', { anonymous: true, body: { email, password } });
  try {
    const there = slug ? await call('POST /api/auth/switch', { token: answer.token, body: { workspace: slug } }) : answer;
    await give({ ...there, email, slug });
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'workspace_not_found') throw error;
  }
  // What was being done belongs to the workspace that is left.
  renewal?.reject(new ApiError('problem', 'You are no longer a member of that workspace.', { status: 401, code: 'signed_out' }));
  renewal = undefined;
  await enter(answer);
  return false;
}

/** @param {string} slug */
export async function switchWorkspace(slug) {
  await enter(await call('POST /api/auth/switch', { body: { workspace: slug } }), slug);
}

/**
 * Joins the workspace to which one is invited, and goes there.
 * @param {string} token
 * @returns {Promise<string>} its name
 */
export async function joinWorkspace(token) {
  const { slug, name } = await call('POST /api/invitations/accept', { body: { token } });
  await switchWorkspace(slug);
  return name;
}

/** Makes a workspace, and goes there. @param {string} name */
export async function foundWorkspace(name) {
  // A repeated attempt is the same one, should the answer have been lost, or the way there have failed.
  if (founding.name !== name) founding = { name, id: newId() };
  const { slug } = await call('POST /api/workspaces', { body: { name }, idempotencyKey: founding.id });
  await switchWorkspace(slug);
  founding = { name: '', id: '' };
}

/** @param {{ token: string, expires_at: string }} answer @param {string} [slug] */
function enter(answer, slug) {
  forgetResources();
  session.set({ me: undefined, isNowhere: false, visit: session.get().visit + 1 });
  return adopt({ ...answer, email: session.get().email, slug });
}

/**
 * @param {{ everywhere?: boolean }} [options] `everywhere` throws what went wrong, and nothing has changed then
 */
export async function signOut({ everywhere = false } = {}) {
  if (session.get().status === 'in') {
    await call('POST /api/auth/logout', { body: { everywhere } }).catch((error) => {
      // Here, the token is forgotten whatever the server says; it ends by itself within a day.
      if (everywhere) throw error;
    });
  }
  channel.postMessage({ type: 'out' });
  forget();
}

/**
 * Leaves the present workspace, and goes to another one; without one, signs out.
 * @param {string} userId one's own
 * @param {string} [next] a slug
 */
export async function leaveWorkspace(userId, next) {
  // Asked for first: afterwards, nothing is granted to this token any more.
  const answer = next && (await call('POST /api/auth/switch', { body: { workspace: next } }));
  await call('DELETE /api/workspace/members/{user_id}', { path: { user_id: userId } });
  if (answer) return enter(answer, next);
  channel.postMessage({ type: 'out' });
  return forget();
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
