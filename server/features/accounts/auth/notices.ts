// Emails people about changes of their account. The subjects are fixed, and no email has a network address. A server
// without mail sends none.

import type { MailSender } from '../../../http/mail/send-mail.ts'
import { describeBrowser } from '../../../lib/browser-name.ts'

export interface NoticeNeeds {
  origin: string
  now: () => number
  sendMail?: MailSender
}

const SUBJECTS = {
  newDevice: 'New sign-in to your account',
  passwordChanged: 'Your password was changed',
  secondFactorAdded: 'A second factor was added to your account',
  secondFactorRemoved: 'A second factor was removed from your account',
  recoveryCodesCreated: 'New recovery codes were created for your account',
  recoveryCodeUsed: 'A recovery code was used for your account',
  secondFactorFailed: 'Someone may know your password',
  addressChangeRequested: 'Your email address is about to change',
  addressChanged: 'Your email address was changed',
  accountDeleted: 'Your account was deleted',
} as const

/** Written by our own code: no text of a stranger is in a notice. */
export interface AccountNotice {
  kind: keyof typeof SUBJECTS
  /** The event, as one or more sentences. */
  text: string
  /** Advice for a person who did not cause it. */
  remedy?: string
}

const REMEDY = 'set a new password and sign out all other sessions'

/** The answer to the request does not wait for the mail. */
export function sendNotice(needs: NoticeNeeds, to: string, { kind, text, remedy }: AccountNotice): void {
  const { origin, now, sendMail } = needs
  // A sender of mail logs its failures and never throws.
  void sendMail?.({
    to,
    subject: SUBJECTS[kind],
    text: `${text}

When: ${new Date(now()).toISOString().slice(0, 16).replace('T', ' ')} UTC
Where: ${origin}

If this was you, there’s nothing to do. If not, ${remedy ?? `${REMEDY}:\n${origin}/app/forgot`}
`,
  })
}

export const toNewDeviceNotice = (userAgent: string | null): AccountNotice => ({
  kind: 'newDevice',
  text: `A new device signed in to your account: ${describeBrowser(userAgent)}.`,
})

export const PASSWORD_NOTICE: AccountNotice = {
  kind: 'passwordChanged',
  text: 'The password of your account was changed. All other sessions have ended.',
}
