// What chats and social networks show of the link.

import { html } from '../../vendor/preact.js';
import { apiUrl, guessUrl } from '../../core/address.js';
import { hostOf } from '../../core/format.js';
import { Field } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';

/**
 * @param {object} props
 * @param {import('../../core/form.js').Form<any>['field']} props.field
 * @param {import('./terms.js').TermValues} props.values
 * @param {import('../../core/lists.js').Link} [props.link] the link that is changed
 */
export function PreviewFields({ field, values, link }) {
  const { 'preview.title': title, 'preview.description': description, 'preview.image': image } = values;
  const isEmpty = [title, description, image].every((text) => text.trim() === '');
  return html`<fieldset class="preview-fields">
    <legend>Social preview</legend>
    <p class="hint">Shown in chats and posts in place of the destination’s own.</p>
    <${Field} label="Preview title" isOptional dir="auto" ...${field('preview.title')} />
    <${Field} label="Preview description" isOptional as="textarea" rows="2" dir="auto" ...${field('preview.description')} />
    <${Field} label="Preview image" isOptional type="url" inputmode="url" spellcheck=${false} autocomplete="off" placeholder="https://" ...${field('preview.image')} />
    ${!isEmpty && html`<${ChatCard} title=${title} description=${description} image=${guessUrl(image)} host=${hostOf(link?.short_url ?? apiUrl('/'))} />`}
  </fieldset>`;
}

/** A drawing of a message with the link. @param {{ title: string, description: string, image?: string, host: string }} props */
function ChatCard({ title, description, image, host }) {
  return html`<figure class="stack tight">
    <div class="chat-card">
      ${image && html`<div class="chat-picture"><${Icon} name="picture" /><bdi class="small-print">${hostOf(image)}</bdi></div>`}
      <p class="small-print">${host}</p>
      ${title.trim() && html`<p class="chat-title" dir="auto">${title}</p>`}
      ${description.trim() && html`<p class="small" dir="auto">${description}</p>`}
    </div>
    <figcaption class="small-print">Approximate preview${image ? '. The image isn’t loaded here' : ''}.</figcaption>
  </figure>`;
}
