// The rules and variants of a link in its form: they are read and sent by requests of their own.

import { useEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { changeUnlessOvertaken } from '../overtaken/overtaken.js';
import { bodyOf, valuesOf } from '../rules/routing.js';

/** @typedef {import('../rules/routing.js').Routing} Routing */
/** @typedef {import('../rules/routing.js').Values} RuleValues */

/** @type {RuleValues} */
export const NO_RULES = { rules: [], variants: [] };

/** @param {RuleValues} values */
const textOf = (values) => JSON.stringify(bodyOf(values));

/**
 * Only a link that has some is waited for. Of others, it is read whether countries are known.
 * @param {import('../../core/lists.js').Link | undefined} link
 * @param {(values: RuleValues) => void} onRead
 */
export function useRouting(link, onRead) {
  const shown = useRef(/** @type {Routing} */ ({ rules: [], variants: [], countries_known: true }));
  const before = useRef(textOf(NO_RULES));
  const [isAwaited, setAwaited] = useState(Boolean(link?.has_rules));
  const [areCountriesKnown, setKnown] = useState(true);
  const [failure, setFailure] = useState(/** @type {any} */ (undefined));
  const path = { code: link?.short_code ?? '' };

  async function read() {
    setFailure(undefined);
    try {
      const found = await call('GET /api/links/{code}/rules', { path });
      setKnown(found.countries_known);
      if (!isAwaited) return;
      shown.current = found;
      const values = valuesOf(found);
      before.current = textOf(values);
      onRead(values);
      setAwaited(false);
    } catch (error) {
      if (isAwaited) setFailure(error);
    }
  }
  useEffect(() => void (link && read()), []);

  /** Sends them if they have changed. @param {RuleValues} values @returns {Promise<Routing | undefined>} what is stored then */
  async function save(values) {
    if (textOf(values) === before.current) return undefined;
    const saved = await changeUnlessOvertaken(shown, {
      members: { rules: 'rules', variants: 'variants' },
      valuesOf: ({ rules, variants }) => ({ rules, variants }),
      read: () => call('GET /api/links/{code}/rules', { path, tagged: true }),
      send: (ifMatch) => call('PUT /api/links/{code}/rules', { path, body: bodyOf(values), ifMatch }),
    });
    shown.current = saved;
    return saved;
  }

  return { isAwaited, areCountriesKnown, failure, read, save };
}
