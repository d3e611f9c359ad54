// The five parameters with which campaigns are told apart, in the destination itself.

/** @typedef {'utm_source' | 'utm_medium' | 'utm_campaign' | 'utm_term' | 'utm_content'} Parameter */
/** What a campaign has; a parameter that is missing or empty is left as it is. @typedef {Partial<Record<Parameter, string>>} CampaignValues */

/** @type {{ name: Parameter, label: string, hint: string, isFirst: boolean }[]} */
export const PARAMETERS = [
  { name: 'utm_source', label: 'Source', hint: 'Where you share it: newsletter, poster', isFirst: true },
  { name: 'utm_medium', label: 'Medium', hint: 'Channel: email, print, social', isFirst: true },
  { name: 'utm_campaign', label: 'Campaign', hint: 'What it’s part of: spring-sale', isFirst: true },
  { name: 'utm_term', label: 'Term', hint: 'The paid keyword', isFirst: false },
  { name: 'utm_content', label: 'Content', hint: 'The version, in a test of several', isFirst: false },
];

/** @param {string} url @param {string} name */
export const valueIn = (url, name) => (URL.canParse(url) ? (new URL(url).searchParams.get(name) ?? '') : '');

/** What of a campaign an address has. @param {string} url @returns {CampaignValues} */
export const campaignIn = (url) => Object.fromEntries(PARAMETERS.map(({ name }) => [name, valueIn(url, name)]).filter(([, value]) => value));

/** @param {string} url */
export const hasCampaign = (url) => Object.keys(campaignIn(url)).length > 0;

/**
 * The address with another value of a parameter; all else stays as it was written.
 * @param {string} url
 * @param {string} name
 * @param {string} value
 */
export function withParameter(url, name, value) {
  const [rest, fragment] = url.split(/#(.*)/s);
  const [path, query = ''] = rest.split(/\?(.*)/s);
  const others = query.split('&').filter((pair) => pair && pair.split('=')[0] !== name);
  const all = value ? [...others, `${name}=${encodeURIComponent(value)}`] : others;
  return `${path}${all.length > 0 ? `?${all.join('&')}` : ''}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** The address with these parameters in place of its own. @param {string} url @param {CampaignValues} values */
export function withCampaign(url, values) {
  const given = PARAMETERS.map(({ name }) => ({ name, value: (values[name] ?? '').trim() })).filter(({ value }) => value);
  return given.reduce((changed, { name, value }) => withParameter(changed, name, value), url);
}
