// Which pages there are. Everything that lists pages (routes, rail, bottom bar, keys) reads this.

/**
 * @typedef {object} PageEntry
 * @property {string} path the first part of its address
 * @property {string} title
 * @property {() => Promise<{ [component: string]: any }>} load
 * @property {string} component the name of its component in that module
 * @property {import('./ui/icons.js').IconName} [icon]
 * @property {'work' | 'workspace'} [group] where the rail has it; without one, it isn't there
 * @property {boolean} [isUnderMore] whether the bottom bar has no room for it
 * @property {string} [key] with `g` before it, leads there
 * @property {'viewer' | 'member' | 'admin'} [role] who sees it
 * @property {string} [within] the page that the rail has instead
 * @property {boolean} [isPublic] whether it is for who isn't signed in, and stands alone
 */

const entrance = () => import('./pages/entrance/entrance.js');
const signInElsewhere = () => import('./pages/providers/providers.js');
const overview = () => import('./pages/overview/overview.js');

/** @type {PageEntry[]} */
export const PAGES = [
  { path: 'links', title: 'Links', icon: 'links', group: 'work', key: 'l', component: 'LinksPage', load: () => import('./pages/links/links.js') },
  { path: 'overview', title: 'Overview', icon: 'overview', group: 'work', key: 'o', component: 'OverviewPage', load: overview },
  { path: 'tags', title: 'Tags', icon: 'tag', group: 'work', isUnderMore: true, key: 't', component: 'TagsPage', load: () => import('./pages/tags/tags.js') },
  { path: 'monitoring', title: 'Monitoring', icon: 'monitoring', group: 'work', key: 'm', component: 'MonitoringPage', load: () => import('./pages/monitoring/monitoring.js') },
  { path: 'notifications', title: 'Notifications', icon: 'bell', group: 'work', key: 'n', component: 'NotificationsPage', load: () => import('./pages/notifications/notifications.js') },
  { path: 'members', title: 'Members', icon: 'members', group: 'workspace', component: 'MembersPage', load: () => import('./pages/members/members.js') },
  { path: 'keys', title: 'API keys', icon: 'key', group: 'workspace', role: 'member', component: 'KeysPage', load: () => import('./pages/keys/keys.js') },
  { path: 'activity', title: 'Activity', icon: 'list', group: 'workspace', role: 'admin', component: 'ActivityPage', load: () => import('./pages/activity/activity.js') },
  { path: 'settings', title: 'Settings', icon: 'settings', group: 'workspace', component: 'SettingsPage', load: () => import('./pages/settings/settings.js') },
  { path: 'account', title: 'Account', icon: 'account', component: 'AccountPage', load: () => import('./pages/account/account.js') },
  { path: 'compare', title: 'Compare', within: 'links', component: 'ComparePage', load: () => import('./pages/compare/compare.js') },
  { path: 'sign-in', title: 'Sign in', isPublic: true, component: 'SignInPage', load: entrance },
  { path: 'signed-in', title: 'Signed in', isPublic: true, component: 'SignedInPage', load: signInElsewhere },
  { path: 'join', title: 'Connect an account', isPublic: true, component: 'JoinPage', load: signInElsewhere },
  { path: 'sign-up', title: 'Create an account', isPublic: true, component: 'SignUpPage', load: entrance },
  { path: 'forgot', title: 'Forgot password', isPublic: true, component: 'ForgotPage', load: entrance },
  { path: 'reset', title: 'New password', isPublic: true, component: 'ResetPage', load: entrance },
  { path: 'first-password', title: 'Choose a password', isPublic: true, component: 'FirstPasswordPage', load: entrance },
  { path: 'keep-address', title: 'Keep your email', isPublic: true, component: 'KeepAddressPage', load: entrance },
  { path: 'unsubscribe', title: 'Unsubscribe', isPublic: true, component: 'UnsubscribePage', load: entrance },
  { path: 'verify', title: 'Confirm your email', isPublic: true, component: 'VerifyPage', load: entrance },
  { path: 'invitation', title: 'Invitation', isPublic: true, component: 'InvitationPage', load: entrance },
  { path: 'shared', title: 'Statistics', isPublic: true, component: 'SharedPage', load: () => import('./pages/shared/shared.js') },
];

/** Instead of all pages but the account's, for who is in no workspace. @type {PageEntry} */
export const NOWHERE = { path: 'links', title: 'Workspaces', icon: 'members', component: 'NowherePage', load: () => import('./pages/nowhere/nowhere.js') };

/** While the address is of another workspace than the tab is in. @type {PageEntry} */
export const ELSEWHERE = { path: 'elsewhere', title: 'Another workspace', component: 'ElsewherePage', load: () => import('./pages/elsewhere/elsewhere.js') };

/** One link: `#/w/fjord/links/TVFpvdN`. @type {PageEntry} */
const LINK = { path: 'link', title: 'Link', component: 'LinkPage', load: () => import('./pages/link/link.js') };

/** The links with a tag: `#/w/fjord/tags/winter`. @type {PageEntry} */
const TAG = { path: 'tag', title: 'Tag', within: 'tags', component: 'TagPage', load: overview };

/**
 * The page of an address; the links are home.
 * @param {string[]} parts
 */
export function pageOf(parts) {
  if (parts[0] === 'links' && parts.length > 1) return LINK;
  if (parts[0] === 'tags' && parts.length > 1) return TAG;
  return PAGES.find((page) => page.path === (parts[0] ?? 'links'));
}
