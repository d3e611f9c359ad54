// How files were imported, so that another run reads their times in the same zone, and no click twice.

import { basePath } from '../../core/address.js';
import { session } from '../../core/session.js';

/** @typedef {{ timezone: string, from: string, format: string }} Reading */

const MOST_FILES = 20;

/** Each workspace has its own. */
const filesKey = () => `linklet:imports:${basePath}:${session.get().me?.workspace_id ?? ''}`;

/** @param {File} file */
const keyOf = ({ name, size }) => `${size}:${name}`;

/** The latest last. @returns {[string, Reading][]} */
function knownFiles() {
  try {
    const stored = JSON.parse(localStorage.getItem(filesKey()) ?? '[]');
    return Array.isArray(stored) ? stored.filter((one) => Array.isArray(one) && ['timezone', 'from', 'format'].every((name) => typeof one[1]?.[name] === 'string')) : [];
  } catch {
    return [];
  }
}

/** @param {File} file @returns {Reading | undefined} */
export const knownReading = (file) => knownFiles().find(([name]) => name === keyOf(file))?.[1];

/** @param {File} file @param {Reading} reading */
export function rememberReading(file, { timezone, from, format }) {
  try {
    const others = knownFiles().filter(([name]) => name !== keyOf(file));
    localStorage.setItem(filesKey(), JSON.stringify([...others, [keyOf(file), { timezone, from, format }]].slice(-MOST_FILES)));
  } catch {
    // A browser that keeps nothing offers its own zone again.
  }
}

/** The zones of the browser, with its own. @returns {{ here: string, zones: string[] }} */
export function zonesOfBrowser() {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
  return { here, zones: [...new Set([here, 'UTC', ...(Intl.supportedValuesOf?.('timeZone') ?? [])])].sort() };
}
