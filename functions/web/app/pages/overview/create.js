import { html, useState } from '../../vendor/preact.js';
import { withoutScheme } from '../../core/format.js';
import { href } from '../../core/router.js';
import { CopyButton } from '../../ui/copy.js';
import { Lazy } from '../../ui/lazy.js';
import { QuickCreate } from '../links/quick-create.js';
import { emptyField } from '../links/quick-queue.js';

/** @typedef {import('../../core/lists.js').Link} Link */

const loadForm = () => import('../../parts/link-form/link-form.js');

/** The field of the home page; here, the link that it has made stands below it. */
export function Create() {
  const [form, setForm] = useState(/** @type {{ link?: Link, url?: string, template?: Link } | null} */ (null));
  const [made, setMade] = useState(/** @type {Link | null} */ (null));
  const close = () => setForm(null);
  const onSaved = (/** @type {Link} */ link) => {
    setMade(link);
    emptyField(form?.url ?? '');
  };
  return html`<${QuickCreate}
      onLink=${setMade}
      onUndone=${() => setMade(null)}
      edit=${(/** @type {Link} */ link) => setForm({ link })}
      openOptions=${(/** @type {string} */ url) => setForm({ url })}
      prepareOptions=${() => void loadForm().catch(() => {})}
    />
    ${made && html`<${Made} link=${made} />`}
    ${form &&
    html`<${Lazy}
      load=${loadForm}
      name="LinkForm"
      key=${form.link?.short_code ?? 'new'}
      ...${form}
      onSaved=${onSaved}
      onFailure=${close}
      onClose=${close}
      onCopy=${(/** @type {Link} */ template) => setForm({ template })}
    />`}`;
}

/** @param {{ link: Link }} props */
function Made({ link }) {
  const short = withoutScheme(link.short_url);
  return html`<p class="made">
    <${CopyButton} text=${link.short_url}><bdi>${short}</bdi><//>
    <span class="muted">leads to <bdi>${withoutScheme(link.original_url)}</bdi></span>
    <a href=${href(`links/${link.short_code}`)}>Statistics</a>
  </p>`;
}
