import { html } from '../../vendor/preact.js';
import { fullTime, momentInText, withoutScheme } from '../../core/format.js';
import { href } from '../../core/router.js';
import { Status } from '../../ui/chips.js';
import { Card } from '../../ui/page.js';

/** The monitored addresses that don't answer. @param {{ targets: import('../../core/lists.js').Overview['down'], tag: string }} props `tag` of the links that watch them, if not all are meant */
export function Down({ targets, tag }) {
  return html`<${Card} title="Outages" actions=${html`<a href=${href('monitoring')}>Monitoring</a>`}>
    ${targets.length === 0
      ? html`<p class="muted">${tag ? 'No outages for these links.' : 'No outages.'}</p>`
      : html`<ul class="down-list">
          ${targets.map(
            ({ id, url, since }) => html`<li key=${id}>
              <${Status} tone="bad">Down<//>
              <a href=${href(`monitoring/${id}`)} title=${url}><bdi>${withoutScheme(url)}</bdi></a>
              <time class="small-print" datetime=${since} title=${fullTime(since)}>since ${momentInText(since)}</time>
            </li>`,
          )}
        </ul>`}
  <//>`;
}
