// The ways in: for people who aren't signed in, and for the links in mails.

export { Door, Outcome } from './door.js';
export { FirstPasswordPage } from './first-password.js';
export { InvitationPage } from './invitation.js';
export { KeepAddressPage } from './keep-address.js';
export { ForgotPage, ResetPage } from './password.js';
export { SignInPage } from './sign-in.js';
export { SignUpPage } from './sign-up.js';
export { UnsubscribePage } from './unsubscribe.js';
export { VerifyPage } from './verify.js';
