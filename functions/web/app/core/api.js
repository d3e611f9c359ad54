// The client of the API. An operation is called by its name in docs/openapi.yaml: `call('GET /api/links/{code}', …)`.

import { apiUrl } from './address.js';
import { connection, lostConnection } from './connection.js';
import { wordsFor } from './words.js';

const TIMEOUT_MS = 20_000;
const RETRY_MS = 400;

/**
 * Why a call failed.
 *
 * - `problem`: the API has answered with a problem document
 * - `offline`: there was no answer
 * - `timeout`: the answer took too long
 * - `broken`: something else has answered, such as a proxy
 * @typedef {'problem' | 'offline' | 'timeout' | 'broken'} FailureKind
 */

export class ApiError extends Error {
  /**
   * @param {FailureKind} kind
   * @param {string} detail a sentence
   * @param {{ status?: number, code?: string, field?: string, correlationId?: string, retryAfter?: number, others?: Record<string, any> }} [more]
   */
  constructor(kind, detail, more = {}) {
    super(detail);
    this.kind = kind;
    this.status = more.status ?? 0;
    this.code = more.code ?? '';
    /** The member of the body that is to blame. */
    this.field = more.field;
    this.correlationId = more.correlationId;
    /** After how many seconds it makes sense to try again. */
    this.retryAfter = more.retryAfter;
    /** What else a problem document says. */
    this.others = more.others ?? {};
  }

  /** Whether the same call may succeed a moment later. */
  get isTemporary() {
    return this.kind !== 'problem' || this.status === 429 || this.status >= 500;
  }
}

/**
 * @typedef {object} CallOptions
 * @property {Record<string, string>} [path] what stands for the parameters of the path
 * @property {Record<string, unknown> | URLSearchParams} [query] what is undefined or empty is left out; a list is repeated
 * @property {object | string} [body] a string is JSON already
 * @property {string} [idempotencyKey]
 * @property {AbortSignal} [signal]
 * @property {boolean} [anonymous] whether it is called without a token
 * @property {boolean} [withCookie] whether the cookie with the refresh token is sent, and taken from the answer
 * @property {string} [token] the token to call it with, instead of the one of who is signed in
 * @property {boolean} [asText] whether the body of the answer is given as it is
 * @property {boolean} [withNext] whether the body is given with the query of the next part, as the header `Link` has it
 * @property {boolean} [tagged] whether the body is given with its `ETag`, as a `Tagged`
 * @property {Record<string, string>} [headers] further ones
 * @property {string} [ifMatch] the `ETag` of what is to be changed
 */

/**
 * @template T
 * @typedef {{ body: T, tag: string | undefined }} Tagged what was read, and the strong `ETag` to change it by; a proxy may have weakened it
 */

/**
 * Who is signed in; session.js fills it in, since it calls the API itself. `onNowhere` hears that the token is for no workspace.
 * @type {{ token: () => string | undefined, renew: () => Promise<void>, onNowhere: (token: string | undefined) => void }}
 */
export const identity = { token: () => undefined, renew: () => Promise.reject(new Error('nobody is signed in')), onNowhere: () => {} };

/**
 * Calls an operation and gives the body of its answer.
 * @param {string} operation such as `GET /api/links/{code}`
 * @param {CallOptions} [options]
 * @returns {Promise<any>}
 */
export async function call(operation, options = {}) {
  const [method] = operation.split(' ');
  const token = options.token ?? identity.token();
  try {
    return await callOnce(operation, options);
  } catch (error) {
    if (!(error instanceof ApiError) || options.signal?.aborted) throw error;
    if (error.code === 'no_workspace') identity.onNowhere(token);
    if (error.code === 'unauthorized' && !options.anonymous && !options.token && identity.token()) {
      await identity.renew();
    } else if (method === 'GET' && error.status >= 500) {
      await new Promise((done) => setTimeout(done, RETRY_MS * (1 + Math.random())));
    } else {
      throw error;
    }
    return callOnce(operation, options);
  }
}

/**
 * Reads a list as a whole, page by page. @param {string} name that the API has for the items
 * @param {string} operation @param {string} [token] of another workspace
 */
export async function readAll(name, operation, token) {
  const items = [];
  /** @type {any} */
  let page = {};
  do {
    page = await call(operation, { token, query: { after: page.next_cursor } });
    items.push(...page[name]);
  } while (page.next_cursor);
  return { ...page, [name]: items };
}

/**
 * @param {string} operation
 * @param {CallOptions} options
 */
async function callOnce(operation, options) {
  const [method, template] = operation.split(' ');
  const response = await send(urlOf(template, options), {
    method,
    headers: headersOf(options),
    body: typeof options.body === 'object' ? JSON.stringify(options.body) : options.body,
    cache: 'no-store',
    credentials: options.withCookie ? 'same-origin' : 'omit',
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(options.signal ? [options.signal] : [])]),
  });
  if (!response.ok) throw await failureOf(response);
  const text = await response.text().catch((error) => Promise.reject(failureOfFetch(error)));
  const body = options.asText ? text : text ? JSON.parse(text) : null;
  if (options.withNext) return { body, next: nextQuery(response) };
  return options.tagged ? { body, tag: strongTag(response) } : body;
}

/**
 * @param {string} url
 * @param {RequestInit} request
 */
async function send(url, request) {
  try {
    const response = await fetch(url, request);
    if (!connection.get().isOnline) connection.set({ isOnline: true });
    return response;
  } catch (error) {
    throw failureOfFetch(error);
  }
}

/** @param {unknown} error */
function failureOfFetch(error) {
  const name = error instanceof Error ? error.name : '';
  if (name === 'AbortError') return error;
  if (name === 'TimeoutError') return new ApiError('timeout', 'The request timed out.');
  lostConnection();
  return new ApiError('offline', `${navigator.onLine === false ? 'You’re offline. ' : ''}Linklet can’t be reached.`);
}

/**
 * @param {string} template
 * @param {CallOptions} options
 */
function urlOf(template, options) {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(options.path?.[name] ?? ''));
  const query = queryOf(options.query ?? {});
  return apiUrl(path) + (query ? `?${query}` : '');
}

/**
 * The address of an operation that anybody may call and whose answer the browser itself shows or saves, such as a picture.
 * @param {string} operation
 * @param {CallOptions} [options]
 */
export const addressOf = (operation, options = {}) => urlOf(operation.split(' ')[1], options);

/** @param {Record<string, unknown> | URLSearchParams} given */
function queryOf(given) {
  if (given instanceof URLSearchParams) return given.toString();
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null && item !== '') query.append(name, String(item));
    }
  }
  return query.toString();
}

/** @param {CallOptions} options */
function headersOf(options) {
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json', ...options.headers };
  const token = options.anonymous ? undefined : (options.token ?? identity.token());
  if (token) headers.Authorization = `Bearer ${token}`;
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  if (options.ifMatch) headers['If-Match'] = options.ifMatch;
  if (options.idempotencyKey) headers['Idempotency-Key'] = options.idempotencyKey;
  return headers;
}

/** @param {Response} response */
function nextQuery(response) {
  const address = /<([^>]*)>\s*;\s*rel="?next"?/.exec(response.headers.get('link') ?? '')?.[1];
  return address && new URL(address, response.url || apiUrl('/')).searchParams;
}

/** @param {Response} response */
function strongTag(response) {
  const tag = response.headers.get('etag');
  return tag?.startsWith('"') ? tag : undefined;
}

/**
 * What a problem document says, of a whole request or of one thing in it.
 * @param {{ code: string, detail: string, field?: string } & Record<string, any>} problem
 * @param {{ status?: number, correlationId?: string, retryAfter?: number }} more
 */
export const refusalOf = ({ code, detail, field, ...others }, more) => new ApiError('problem', wordsFor(code, detail), { code, field, others, ...more });

/** @param {Response} response */
async function failureOf(response) {
  const correlationId = response.headers.get('x-correlation-id') ?? undefined;
  const retryAfter = Number(response.headers.get('retry-after')) || undefined;
  const { status } = response;
  /** @type {any} */
  const body = await response.json().catch(() => ({}));
  if (typeof body?.code === 'string') return refusalOf(body, { status, correlationId, retryAfter });
  // API Gateway's own answers have a `message`.
  const detail = status === 429 ? 'Too many requests.' : `The server responded with ${status}.`;
  return new ApiError('broken', detail, { status, correlationId, retryAfter: retryAfter ?? (status === 429 ? 2 : undefined) });
}
