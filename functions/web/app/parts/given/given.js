// What the address of the page says of a new link: `/app?url=…`, which the bookmarklet opens, or what a phone shares. It only fills in the
// form, since any page can lead here.

import { guessUrl } from '../../core/address.js';
import { href, navigate } from '../../core/router.js';

/** Shows the form, once somebody is signed in, and takes the query away. */
export function openGiven() {
  const given = givenLink(new URLSearchParams(location.search));
  history.replaceState(history.state, '', location.pathname + location.hash);
  if (given) navigate(href('links', { new: given.url, title: given.title }), { replace: true });
}

/**
 * Phones often share the URL within a text.
 * @param {URLSearchParams} query
 * @returns {{ url: string, title?: string } | undefined}
 */
export function givenLink(query) {
  const [url, text, title] = ['url', 'text', 'title'].map((name) => query.get(name)?.trim() ?? '');
  const found = [url, text, title].map((one) => guessUrl(one) ?? /https?:\/\/\S+/i.exec(one)?.[0]).find(Boolean);
  const wanted = found ?? (url || text);
  return wanted ? { url: wanted, title: title === wanted ? undefined : title } : undefined;
}
