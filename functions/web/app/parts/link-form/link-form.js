// The drawer in which a link is made or changed.

import { html, useEffect, useRef } from '../../vendor/preact.js';
import { guessUrl } from '../../core/address.js';
import { call } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { noteChange, noteMade, readMade, useDestinations, wordsOfMade } from '../../core/lists.js';
import { rememberTags, useTagNames } from '../link-changes/counts.js';
import { changeUnlessOvertaken } from '../overtaken/overtaken.js';
import { VisibilityField } from '../visibility/visibility.js';
import { newId } from '../../core/random.js';
import { invalidate } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { copyText } from '../../ui/copy.js';
import { ask, Dialog } from '../../ui/dialog.js';
import { Checkbox, Field } from '../../ui/field.js';
import { Failure, FormFailure, Notice, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { bodyOf, errorsOf } from '../rules/routing.js';
import { RulesFields } from '../rules/rules.js';
import { hasCampaign, rememberCampaigns } from '../utm/utm.js';
import { Campaign } from './campaign.js';
import { CodeField, codeError } from './code-field.js';
import { Destination, LockedHint } from './destination.js';
import { Expiry, expiryError } from './expiry.js';
import { NO_RULES, useRouting } from './stored-rules.js';
import { TagInput } from './tags.js';
import { atItsField, termErrors, Terms, termsBody, termsOf } from './terms.js';

export { ExpiryDialog } from './expiry-dialog.js';
export { TagDialog, TagsDialog } from './tags-dialog.js';

/** @typedef {import('../../core/lists.js').Link} Link */

/** What a form calls the members that can be changed. @type {Record<string, string>} */
const NAMES = {
  url: 'destination',
  title: 'title',
  description: 'description',
  tags: 'tags',
  expires_at: 'end',
  is_active: 'whether it’s enabled',
  watch: 'watching',
  valid_from: 'beginning',
  max_clicks: 'click limit',
  fallback_url: 'fallback URL',
  password: 'password',
  forward_query: 'query parameters',
  preview: 'preview',
  statistics: 'who sees the statistics',
};

/**
 * @typedef {object} OwnValues
 * @property {string} url
 * @property {string} custom_code
 * @property {string} title
 * @property {string} description
 * @property {string[]} tags
 * @property {string | null} expires_at
 * @property {boolean} watch
 * @property {boolean} is_active
 * @property {string} statistics empty where the workspace decides
 */
/** @typedef {OwnValues & import('./terms.js').TermValues & import('../rules/routing.js').Values} Values */
/** @typedef {'title' | 'destination' | 'rules' | 'statistics'} Place */

/** What has the focus at first. @type {Record<Place, string>} */
const FIRST = { title: '[name=title]', destination: '[name=url]', rules: '.rules-head h3', statistics: '[name=statistics]' };

/**
 * @param {object} props
 * @param {Link} [props.link] the link to change; without one, a new one is made
 * @param {string} [props.url] what was typed already
 * @param {Place} [props.at] where of a link that is changed one begins
 * @param {Partial<Link>} [props.template] whose title and tags a new link has, too
 * @param {(link: Link, isNew: boolean) => void} props.onSaved
 * @param {(link: Link) => void} props.onCopy makes a new link like this one
 * @param {() => void} props.onClose
 */
export function LinkForm({ link, url = '', template, at = 'title', onSaved, onCopy, onClose }) {
  const known = useTagNames();
  const attempt = useRef({ body: '', id: '' });
  const shown = useRef(/** @type {Link} */ (link));
  const send = (/** @type {Values} */ values) => (link ? change(link, values) : create(values)).catch((error) => Promise.reject(atItsField(error)));
  const form = useForm(initial(link, url, template), send, { check: (values) => check(values, link), keeps: true });
  const destinations = useDestinations({ isWanted: link !== undefined || hasRules(form.values) });
  const routing = useRouting(link, (read) => form.begin({ ...form.values, ...read }));
  const { part, focusLater } = useLaterFocus();
  const isReady = !routing.isAwaited && (!link || !destinations.isLoading);
  const isLocked = link !== undefined && destinations.data !== 'editable';
  useEffect(() => {
    if (!link || !isReady) return;
    const first = /** @type {HTMLElement | null | undefined} */ (part.current?.querySelector(FIRST[at]));
    first?.focus();
    if (at === 'rules' || at === 'statistics') first?.scrollIntoView({ block: at === 'rules' ? 'start' : 'center' });
  }, [isReady]);

  /** @param {Values} values */
  async function create(values) {
    const body = newLink(values);
    const text = JSON.stringify(body);
    // A repeated attempt is the same one, should the answer have been lost.
    if (attempt.current.body !== text) attempt.current = { body: text, id: newId() };
    const made = await call('POST /api/shorten', { body, idempotencyKey: attempt.current.id });
    const isCopied = await copyText(made.short_url);
    const whole = await readMade(made);
    toast(`${wordsOfMade(made, whole)}${isCopied ? ' Copied.' : ''}`);
    noteMade(made, whole);
    rememberCampaigns([body.url]);
    finish(whole, true);
  }

  /** @param {Link} before @param {Values} values */
  async function change(before, values) {
    if (!isReady) return;
    const body = changes(before, values);
    const names = Object.keys(body);
    const path = { code: before.short_code };
    const save = () =>
      changeUnlessOvertaken(shown, {
        members: Object.fromEntries(names.map((name) => [name, NAMES[name]])),
        valuesOf: comparable,
        read: () => call('GET /api/links/{code}', { path, tagged: true }),
        send: (ifMatch) => call('PATCH /api/links/{code}', { path, body, ifMatch }),
      });
    const after = names.length > 0 ? await save() : before;
    if (after !== before) noteChange(shown.current, after);
    // The next attempt, should the rules be refused, is no overtaken one.
    shown.current = after;
    const stored = await routing.save(values);
    toast('Saved.');
    finish(stored ? { ...after, has_rules: hasRules(values) } : after, false);
  }

  /** @param {Link} saved @param {boolean} isNew */
  function finish(saved, isNew) {
    rememberTags(saved.tags);
    invalidate('tags');
    invalidate('overview');
    invalidate(`link:${saved.short_code}`);
    onSaved(saved, isNew);
    onClose();
  }

  async function close() {
    const question = { title: 'Discard changes?', text: 'Your changes will be lost.', action: 'Discard', dismiss: 'Keep editing', isDanger: true };
    if (!form.isDirty || (await ask(question))) onClose();
  }

  async function copy() {
    const question = { title: 'Discard changes?', text: 'Your changes to this link will be lost.', action: 'Create a new link', isDanger: true };
    if (link && (!form.isDirty || (await ask(question)))) onCopy(link);
  }

  const { values, errors, set, field } = form;
  const footer = html`<${Button} onClick=${close}>Cancel<//>
    <${Button} kind="primary" type="submit" isBusy=${form.isBusy} title="Ctrl or ⌘ + Enter">${link ? 'Save' : 'Create link'}<//>`;
  const whole = (/** @type {unknown} */ content, /** @type {unknown} */ buttons) =>
    html`<${Dialog} kind="drawer" title=${link ? `Edit ${link.short_code}` : 'New link'} onClose=${close} onSubmit=${form.submit} footer=${buttons}>${content}<//>`;
  if (!isReady) {
    const waiting = routing.failure ? html`<${Failure} what="Couldn’t load the rules." error=${routing.failure} retry=${routing.read} />` : html`<${Skeleton} rows=${6} height=${56} />`;
    return whole(waiting, html`<${Button} onClick=${close}>Cancel<//>`);
  }
  const fields = html`<div class="form-fields" ref=${part}>
    <${Summary} errors=${errors} />
    <${FormFailure} error=${form.failure} />
    <${Destination} link=${link} destinations=${destinations} input=${field('url')} onUrl=${(/** @type {string} */ found) => set('url', found)} onCopy=${copy} onAllowed=${() => focusLater(FIRST.destination)} />
    ${!link && html`<${CodeField} ...${field('custom_code')} />`}
    <${Field} label="Title" isOptional dir="auto" ...${field('title')} />
    <${TagInput} label="Tags" isOptional hint="Press Enter or comma to add a tag." value=${values.tags} onChange=${(/** @type {string[]} */ tags) => set('tags', tags)} known=${known} error=${errors.tags} />
    <${Expiry} value=${values.expires_at} onChange=${(/** @type {string | null} */ expiry) => set('expires_at', expiry)} error=${errors.expires_at} />
    <${RulesFields}
      form=${form}
      mode=${isLocked ? 'remove' : 'edit'}
      code=${link?.short_code}
      target=${guessUrl(values.url) ?? values.url}
      areCountriesKnown=${routing.areCountriesKnown}
      note=${isLocked && destinations.data && html`<${LockedHint} consequence=${hasRules(values) ? 'you can only remove rules and variants' : 'only new links can have rules and variants'} />`}
    />
    ${!link && hasRules(values) && destinations.data === 'fixed' && html`<p class="hint">Destinations are locked in this workspace, so you can only remove rules and variants later.</p>`}
    <${Terms} form=${form} link=${link} destinations=${destinations} />
    ${!link && html`<${Campaign} url=${guessUrl(values.url) ?? values.url} onUrl=${(/** @type {string} */ changed) => set('url', changed)} />`}
    <${Field} label="Description" isOptional as="textarea" dir="auto" rows="3" ...${field('description')} />
    <${VisibilityField} input=${field('statistics')} />
    ${link && html`<${Checkbox} label="Link enabled" hint="Visitors to a disabled link see that it’s disabled." checked=${values.is_active} onChange=${(/** @type {boolean} */ on) => set('is_active', on)} />`}
    <${Checkbox} label="Monitor the destination" hint="Get notified when it’s down." checked=${values.watch} onChange=${(/** @type {boolean} */ on) => set('watch', on)} />
  </div>`;
  return whole(fields, footer);
}

/** @param {Pick<Values, 'rules' | 'variants'>} values */
const hasRules = ({ rules, variants }) => rules.length + variants.length > 0;

/** For when several fields are wrong; it takes the focus. @param {{ errors: Record<string, string> }} props */
function Summary({ errors }) {
  const list = Object.entries(errors).filter(([, error]) => error);
  if (list.length < 2) return null;
  return html`<div class="form-summary" tabindex="-1">
    <${Notice} tone="bad"><p>Check these fields:</p><ul>${list.map(([name, error]) => html`<li key=${name}>${error}</li>`)}</ul><//>
  </div>`;
}

/** @param {Link | undefined} link @param {string} url @param {Partial<Link> | undefined} template @returns {Values} */
function initial(link, url, template) {
  const like = link ?? template;
  return {
    ...NO_RULES,
    url: link?.original_url ?? url,
    custom_code: '',
    title: like?.title ?? '',
    description: like?.description ?? '',
    tags: like?.tags ?? [],
    expires_at: link?.expires_at ?? null,
    watch: link?.watch ?? false,
    is_active: link?.is_active ?? true,
    statistics: like?.statistics ?? '',
    ...termsOf(link),
  };
}

/** @param {Values} values @param {Link | undefined} link */
function check(values, link) {
  const { url, custom_code: code, expires_at: expiry } = values;
  const errors = { expires_at: expiry === link?.expires_at ? undefined : expiryError(expiry), ...termErrors(values, link), ...errorsOf(values) };
  const wrongUrl = guessUrl(url) ? undefined : 'Enter a URL that starts with http:// or https://.';
  return link ? { url: wrongUrl, ...errors } : { url: wrongUrl, custom_code: codeError(code), ...errors };
}

/** What the API is given for a new link. @param {Values} values */
function newLink(values) {
  const { url, custom_code, title, description, tags, expires_at, watch, statistics } = values;
  const terms = Object.entries(termsBody(values, Object.keys(termsOf()))).filter(([, value]) => value);
  const target = guessUrl(url) ?? url;
  // Campaigns are what makes two addresses the same otherwise.
  const reuse = hasCampaign(target) ? false : undefined;
  return { url: target, custom_code, title, description, tags, expires_at: expires_at ?? undefined, watch: watch || undefined, statistics: statistics || undefined, reuse, ...Object.fromEntries(terms), ...(hasRules(values) && bodyOf(values)) };
}

/** What of a link can be changed, as the form has it. @param {Link} link @returns {Record<string, unknown>} */
function changeable(link) {
  const { original_url: url, title, description, tags, expires_at, is_active, watch, statistics } = link;
  return { url, title: title ?? '', description: description ?? '', tags, expires_at, is_active, watch, statistics: statistics ?? '', ...termsOf(link) };
}

/** The same as the API has it, to tell whether somebody has changed it. @param {Link} link @returns {Record<string, unknown>} */
const comparable = (link) => ({ ...changeable(link), password: link.is_protected ?? false, preview: link.preview ?? null });

/** What has changed. @param {Link} link @param {Values} values */
function changes(link, values) {
  const before = changeable(link);
  const after = Object.entries(values).filter(([name, value]) => name in before && JSON.stringify(before[name]) !== JSON.stringify(value));
  const terms = termsOf();
  const own = after.filter(([name]) => !(name in terms)).map(([name, value]) => [name, name === 'url' ? guessUrl(values.url) : value]);
  return { ...Object.fromEntries(own), ...termsBody(values, after.map(([name]) => name)) };
}
