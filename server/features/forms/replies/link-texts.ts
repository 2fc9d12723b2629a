// The texts of the pages behind the links in mails to senders, by language. A language without texts here shows English.

export interface LinkTexts {
  confirmTitle: string
  confirmLead: string
  /** `{n}` is how many submissions wait. */
  confirmMany: string
  confirmButton: string
  expiredTitle: string
  expired: string
  unknownTitle: string
  unknown: string
  stopTitle: string
  stopLead: string
  stopButton: string
  stoppedTitle: string
  stopped: string
}

const ENGLISH: LinkTexts = {
  confirmTitle: 'Confirm your submission',
  confirmLead: 'Somebody filled in a form with your e-mail address. If it was you, confirm it.',
  confirmMany: 'The form was sent {n} times with your address. You confirm all of them.',
  confirmButton: 'Confirm',
  expiredTitle: 'This link has expired',
  expired: 'It was valid for seven days. Please fill in the form again.',
  unknownTitle: 'This link is not valid',
  unknown: 'Please open the link exactly as it is in the mail. What it was for may also be deleted by now.',
  stopTitle: 'Stop these mails?',
  stopLead: 'You get no more automatic mails about forms of this sender.',
  stopButton: 'Stop the mails',
  stoppedTitle: 'The mails are stopped',
  stopped: 'You get no more automatic mails about forms of this sender. You can close this page.',
}

const TEXTS: Record<string, LinkTexts> = { en: ENGLISH }

export const findLinkTexts = (language: string | null): LinkTexts =>
  (language !== null && Object.hasOwn(TEXTS, language) ? TEXTS[language] : undefined) ?? ENGLISH
