// Which page is shown, and of which workspace: what stands behind the address's `#`, such as `#/w/fjord/links/TVFpvdN?range=30d`.

import { createStore } from './store.js';

/** @typedef {{ workspace?: string, path: string, parts: string[], query: URLSearchParams }} Route `workspace` is a slug */

/** @returns {Route} */
function parse() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const all = path.split('/').filter(Boolean).map(decoded);
  const [workspace, parts] = all[0] === 'w' ? [all[1], all.slice(2)] : [undefined, all];
  return { workspace, path: parts.join('/'), parts, query: new URLSearchParams(query) };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = createStore(parse());

/** The slug of the workspace that addresses are of; session.js fills it in. */
export const here = { slug: () => /** @type {string | undefined} */ (undefined) };

/** How far the present view was scrolled when one left it; nothing if it is new. @returns {number | undefined} */
export const scrolledBefore = () => history.state?.scrolled;

function rememberScroll() {
  history.replaceState({ ...history.state, scrolled: scrollY }, '');
}

history.scrollRestoration = 'manual';
addEventListener('popstate', () => route.set(parse()));
addEventListener('click', (event) => /** @type {Element} */ (event.target).closest?.('a[href^="#"]') && rememberScroll(), true);

/**
 * The address of a view, for `href`.
 * @param {string | string[]} path such as `links/TVFpvdN`; its parts, if one of them may have slashes
 * @param {Record<string, string | string[] | undefined>} [query] what is empty is left out
 * @param {string} [workspace] the slug of another workspace than the one that one is in
 */
export function href(path, query = {}, workspace = here.slug()) {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value ?? ''].flat().map((item) => [name, item]));
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== '')).toString();
  const all = [...(workspace ? ['w', workspace] : []), ...(typeof path === 'string' ? path.split('/') : path)];
  return `#/${all.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

/**
 * Shows another view.
 * @param {string} address as `href` makes it
 * @param {{ replace?: boolean }} [options] whether "back" leaves out the present one
 */
export function navigate(address, { replace = false } = {}) {
  if (replace) {
    history.replaceState(history.state, '', address);
  } else {
    rememberScroll();
    history.pushState(null, '', address);
  }
  route.set(parse());
}

/**
 * Gives the present address its workspace, so that it leads to the same view whatever workspace somebody is in.
 * @param {string} slug
 */
export function completeAddress(slug) {
  // The address may be ahead of the view: a browser changes it before it tells.
  if (parse().workspace === undefined) history.replaceState(history.state, '', `#/w/${slug}${location.hash.slice(1) || '/links'}`);
  route.set(parse());
}

/**
 * Gives the present address another slug of its workspace, which is called otherwise now.
 * @param {string} before
 * @param {string} slug
 */
export function followSlug(before, slug) {
  if (parse().workspace !== before) return;
  history.replaceState(history.state, '', location.hash.replace(/^#\/?w\/[^/?]*/, `#/w/${slug}`));
  route.set(parse());
}

/**
 * Changes the query of the present view.
 * @param {Record<string, string | string[] | undefined>} changes what is empty is taken away
 * @param {{ replace?: boolean }} [options]
 */
export function setQuery(changes, { replace = true } = {}) {
  const { parts, query } = route.get();
  /** @type {Record<string, string | string[] | undefined>} */
  const all = {};
  for (const name of query.keys()) all[name] = query.getAll(name);
  navigate(href(parts, { ...all, ...changes }), { replace });
}
