// The email to the owners of a workspace whose forms have reached the hourly limit of replies.

import type { OwnersMail } from '../../accounts/workspaces/mail-owners.ts'
import { REPLIES_PER_HOUR } from './reply-outbox.ts'

export const toPausedRepliesMail = (origin: string, workspaceId: number): OwnersMail => ({
  about: 'paused replies',
  subject: 'Auto-replies are paused',
  text: [
    `The forms of your workspace have sent ${REPLIES_PER_HOUR} replies to senders within an hour, which is the maximum. Further`,
    'senders get no reply for now. Their submissions are stored as always. With double opt-in, these senders cannot',
    'confirm: you’ll find their submissions in the inbox under “Not confirmed”.',
    '',
    'If these are not real senders, turn on the form’s captcha, or turn off its auto-reply:',
    `${origin}/app/${workspaceId}/forms`,
    '',
  ].join('\n'),
})
