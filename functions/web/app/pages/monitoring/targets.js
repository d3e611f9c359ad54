// What the API knows of monitored URLs.

import { call } from '../../core/api.js';

/** @typedef {{ id: string, url: string, canonical_url: string, host: string, created_at: string }} ListedTarget */
/** @typedef {'up' | 'down' | 'pending'} TargetStatus */
/** @typedef {ListedTarget & { status: TargetStatus, status_since: string }} Target */
/** @typedef {{ checked_at: string, status_code: number | null, latency_ms: number, error: string | null }} CheckResult */
/** @typedef {Target & { latest: CheckResult | null }} TargetWithHealth */
/** @typedef {{ items: TargetWithHealth[], next_page_token: string | null }} TargetPage */

/** How often what is shown is read again. */
export const READ_EVERY_MS = 15_000;

/** @param {string} id @returns {Promise<Target>} */
export const readTarget = (id) => call('GET /v1/targets/{id}', { path: { id } });

/** @type {Record<TargetStatus, { tone: 'good' | 'bad' | 'warn' | 'muted', text: string }>} */
export const STATES = {
  up: { tone: 'good', text: 'Up' },
  down: { tone: 'bad', text: 'Down' },
  pending: { tone: 'muted', text: 'Not checked yet' },
};

/** Why a check got no answer, as the API names it. @type {Record<string, string>} */
const ERRORS = {
  dns: 'DNS lookup failed',
  connect: 'Connection failed',
  tls: 'TLS connection failed',
  tls_chain: 'Certificate chain incomplete or untrusted',
  tls_expired: 'Certificate expired or not yet valid',
  tls_name: 'Certificate for another host',
  tls_certificate: 'Invalid certificate',
  tls_protocol: 'No TLS or an outdated version',
  timeout: 'Timed out',
  not_public: 'Not a public address',
  port_not_allowed: 'Port not allowed',
  too_many_redirects: 'Too many redirects',
  invalid_redirect: 'Invalid redirect',
  other: 'Invalid response',
};

/** What a check has found. @param {CheckResult} result */
export const outcome = ({ status_code: status, error }) => (error ? (ERRORS[error] ?? ERRORS.other) : `HTTP ${status}`);
