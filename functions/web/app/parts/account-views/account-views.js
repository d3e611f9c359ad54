/** What the page of the account has, one at a time: `#/account?view=sessions`. */
export const ACCOUNT_VIEWS = [
  { value: '', label: 'Profile', more: 'Name, address and password' },
  { value: 'mail', label: 'Mail', more: 'Which mail you get' },
  { value: 'sessions', label: 'Sessions', more: 'Where you are signed in' },
  { value: 'activity', label: 'Activity', more: 'What has happened to your account' },
  { value: 'data', label: 'Data', more: 'Download your data, close your account' },
];
