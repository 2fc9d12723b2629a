// The messages of the form endpoint about fields. Anybody can write a text into `_errors` of the page's address, such as
// "Your account is locked, call …": only these are shown.

export const KNOWN_MESSAGES = [
  'This field is required',
  'Enter a valid email address',
  'Must be a string',
  'File uploads are not supported',
  'Captcha verification required',
  'Captcha verification failed',
]
