// The campaign of a new link, which is written into its destination.

import { html, useState } from '../../vendor/preact.js';
import { CampaignFields, campaignIn, hasCampaign, withParameter } from '../utm/utm.js';

/** @param {{ url: string, onUrl: (url: string) => void }} props */
export function Campaign({ url, onUrl }) {
  const [isOpen, setOpen] = useState(() => hasCampaign(url));
  const isUsable = URL.canParse(url);
  const change = (/** @type {import('../utm/campaign.js').CampaignValues} */ values) =>
    onUrl(Object.entries(values).reduce((changed, [name, value]) => withParameter(changed, name, value), url));
  return html`<details class="fold" open=${isOpen || hasCampaign(url)} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>Campaign</summary>
    <div class="stack">
      <p class="hint">${isUsable ? 'These are added to the destination, so your own analytics can tell where visitors came from. They always make a new link.' : 'Enter the destination first.'}</p>
      ${isOpen && html`<${CampaignFields} values=${campaignIn(url)} onChange=${change} isOff=${!isUsable} />`}
    </div>
  </details>`;
}
