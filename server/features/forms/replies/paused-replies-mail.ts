// The mail to the owners of a workspace whose forms have sent as many replies as they may in an hour.

import type { OwnersMail } from '../../accounts/workspaces/mail-owners.ts'
import { REPLIES_PER_HOUR } from './reply-outbox.ts'

export const toPausedRepliesMail = (origin: string, workspaceId: number): OwnersMail => ({
  about: 'paused replies',
  subject: 'Forms send no replies for now',
  text: [
    `The forms of your workspace have sent ${REPLIES_PER_HOUR} replies to senders within an hour, which is the most. Until an hour`,
    'has fewer, further senders get no reply. Their submissions are stored as always. With double opt-in, those senders',
    'cannot confirm theirs: you find these in the inbox as not confirmed.',
    '',
    'If these are not real senders, switch the captcha of the form on, or its reply off:',
    `${origin}/app/${workspaceId}/forms`,
    '',
  ].join('\n'),
})
