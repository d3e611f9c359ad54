/** What the page of the account has, one at a time: `#/account?view=sign-in`. */
export const ACCOUNT_VIEWS = [
  { value: '', label: 'Profile', more: 'Name and address' },
  { value: 'mail', label: 'Email', more: 'Emails you get' },
  { value: 'sign-in', label: 'Sign-in', more: 'Password, identity providers, sessions: devices you’re signed in on' },
  { value: 'activity', label: 'Activity', more: 'Changes to your account' },
  { value: 'data', label: 'Data', more: 'Download your data, close your account' },
];
