import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { SkeletonText } from '../../ui/states.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const AT_MOST = 100;
const SHOWN = 5;

/**
 * The links that watch a target: the API finds those of its host.
 * @param {{ target: import('./targets.js').Target }} props
 */
export function WatchedBy({ target }) {
  const { data, isLoading } = useResource(`watching:${target.id}`, () =>
    call('GET /api/links', { query: { search: target.host, per_page: AT_MOST } }),
  );
  if (isLoading) return html`<${SkeletonText} />`;
  const links = /** @type {Link[]} */ (data?.links ?? []).filter((link) => link.target_id === target.id);
  if (links.length === 0) return html`<span class="muted">None</span>`;
  const rest = links.length - SHOWN;
  return html`<span class="row">
    ${links.slice(0, SHOWN).map((link) => html`<a key=${link.short_code} href=${href(`links/${link.short_code}`)}>${link.short_code}</a>`)}
    ${rest > 0 && html`<span class="muted">and ${counted(rest, 'more', 'more')}</span>`}
  </span>`;
}
