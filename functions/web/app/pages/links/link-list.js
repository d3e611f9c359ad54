// The links that match a filter, as far as they were read.

import { useEffect, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { onComingBack } from '../../core/coming-back.js';
import { rememberLinks } from '../../core/lists.js';
import { session } from '../../core/session.js';
import { isByClicks, isEverything, requestOf } from './filter.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const FIRST_PAGE = 50;
const FURTHER_PAGE = 100;
const KEPT_LISTS = 8;

export class LinkList {
  /** @param {import('./filter.js').Filter} filter */
  constructor(filter) {
    this.filter = filter;
    /** What was read. @type {Link[]} */
    this.known = [];
    /** Of these, what is shown: not what was archived or brought back since. @type {Link[]} */
    this.links = [];
    /** How many archived links matched besides, as far as that is known. */
    this.leftOutBefore = 0;
    /** The link that was put on top: it is shown, whatever the filter is. */
    this.top = '';
    /** How many there are, if that is known. @type {number | null} */
    this.total = null;
    /** Where the next page begins. @type {string | number | null} */
    this.next = null;
    /** @type {any} */
    this.error = undefined;
    this.isRead = false;
    /** @type {Promise<void> | undefined} */
    this.reading = undefined;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /** How many archived links match besides, with those that were archived since. */
  get leftOut() {
    return this.filter.archived ? 0 : this.leftOutBefore + this.known.length - this.links.length;
  }

  /** @param {Link[]} known @returns {number} how many more are shown than before */
  show(known) {
    const { archived } = this.filter;
    const before = this.links.length;
    this.known = known;
    this.links = known.filter((link) => archived === 'all' || Boolean(link.archived) === (archived === 'true') || link.short_code === this.top);
    return this.links.length - before;
  }

  tell() {
    for (const listener of this.listeners) listener();
  }

  /** Reads from the beginning. What is shown stays until then, and further rows stay below the page that was read. */
  reload() {
    return this.once(async () => {
      const page = await this.page(null, Math.max(FIRST_PAGE, Math.min(FURTHER_PAGE, this.links.length)));
      const last = page.links[page.links.length - 1]?.short_code;
      const further = this.known.slice(this.known.findIndex((link) => link.short_code === last) + 1);
      this.leftOutBefore = page.leftOut ?? 0;
      if (page.next === null || further.length === 0 || further.length === this.known.length) return this.take(page, []);
      const { next } = this;
      this.take({ links: further, next, total: page.total }, page.links);
    });
  }

  loadMore() {
    if (this.next === null || this.reading) return this.reading ?? Promise.resolve();
    return this.once(async () => this.take(await this.page(this.next, FURTHER_PAGE), this.known));
  }

  /** @param {() => Promise<void>} read */
  once(read) {
    this.reading ??= read()
      .then(
        () => {
          this.error = undefined;
          this.isRead = true;
        },
        (error) => {
          this.error = error;
        },
      )
      .finally(() => {
        this.reading = undefined;
        this.tell();
      });
    this.tell();
    return this.reading;
  }

  /** @param {{ links: Link[], next: string | number | null, total: number | null }} page @param {Link[]} before */
  take(page, before) {
    const known = new Set(before.map((link) => link.short_code));
    this.show([...before, ...page.links.filter((link) => !known.has(link.short_code))]);
    this.next = page.next;
    this.total = page.total ?? (page.next === null ? this.links.length : this.total);
  }

  /**
   * A page that has rows, or is the last one: the API may find nothing in what it reads for one request.
   * @param {string | number | null} from
   * @param {number} size
   */
  async page(from, size) {
    const isByPage = isByClicks(this.filter);
    // Pages of what is shown: those behind move up where some are archived.
    for (let at = isByPage && from !== null ? Math.floor(this.links.length / FURTHER_PAGE) + 1 : from; ; ) {
      const number = isByPage ? Number(at ?? 1) : 1;
      const place = isByPage ? { page: number, per_page: FURTHER_PAGE } : { after: at, per_page: size };
      const answer = await call('GET /api/links', { query: { ...requestOf(this.filter), ...place } });
      const next = isByPage ? (number < (answer.total_pages ?? 0) ? number + 1 : null) : answer.next_cursor;
      if (answer.links.length > 0 || next === null) return { links: answer.links, next, total: answer.total, leftOut: answer.archived_left_out };
      at = next;
    }
  }

  /** Shows other links than before. @param {Link[]} known */
  replace(known) {
    const more = this.show(known);
    if (this.total !== null) this.total += more;
    if (this.links.length === 0) this.loadMore();
    this.tell();
  }

  /** Shows a link otherwise, in whichever list it stands. @param {string} code @param {Partial<Link>} change */
  change(code, change) {
    this.changeAll(new Map([[code, change]]));
  }

  /** @param {Map<string, Partial<Link>>} changes by code */
  changeAll(changes) {
    for (const list of new Set([this, ...lists.values()])) {
      if (!list.known.some((link) => changes.has(link.short_code))) continue;
      if ('archived' in (changes.get(list.top) ?? {})) list.top = '';
      list.replace(list.known.map((link) => (changes.has(link.short_code) ? { ...link, ...changes.get(link.short_code) } : link)));
    }
  }

  /** @param {string[]} codes */
  remove(...codes) {
    const gone = new Set(codes);
    this.replace(this.known.filter((link) => !gone.has(link.short_code)));
  }

  /** Puts a link on top. @param {Link} link */
  putFirst(link) {
    this.top = link.short_code;
    this.replace([link, ...this.known.filter((other) => other.short_code !== link.short_code)]);
  }
}

/** @type {Map<string, LinkList>} */
const lists = new Map();

/** The list of a filter; coming back to it shows what was there. @param {import('./filter.js').Filter} filter */
function listOf(filter) {
  const key = JSON.stringify([session.get().visit, filter]);
  const list = lists.get(key) ?? new LinkList(filter);
  lists.delete(key);
  lists.set(key, list);
  if (lists.size > KEPT_LISTS) lists.delete([...lists.keys()][0]);
  return list;
}

/** @param {import('./filter.js').Filter} filter */
export function useLinkList(filter) {
  const [, redraw] = useState(0);
  const list = listOf(filter);
  if (isEverything(filter) && filter.sort === 'newest') rememberLinks(list);
  useEffect(() => {
    const listener = () => redraw((count) => count + 1);
    list.listeners.add(listener);
    list.reload();
    const end = onComingBack(() => list.reload());
    return () => {
      list.listeners.delete(listener);
      end();
    };
  }, [list]);
  return list;
}
