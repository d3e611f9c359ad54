/** What the page of the account has, one at a time: `#/account?view=sessions`. */
export const ACCOUNT_VIEWS = [
  { value: '', label: 'Profile', more: 'Name, address and password' },
  { value: 'mail', label: 'Email', more: 'Emails you get' },
  { value: 'sessions', label: 'Sessions', more: 'Devices you’re signed in on' },
  { value: 'activity', label: 'Activity', more: 'Changes to your account' },
  { value: 'data', label: 'Data', more: 'Download your data, close your account' },
];
