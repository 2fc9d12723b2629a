// The mail to the owners of a workspace whose forms refuse submissions, because it has stored as many as it may.

import type { OwnersMail } from '../../accounts/workspaces/mail-owners.ts'

export const toRefusedSubmissionsMail = (origin: string, workspaceId: number): OwnersMail => ({
  about: 'refused submissions',
  subject: 'Your forms refuse submissions',
  text: [
    'The forms of your workspace have stored as many submissions as this server allows in a day. They refuse further ones',
    'until there is room again, and ask the senders to try later. No stored submission is lost.',
    '',
    'If these are not real senders, turn on the captcha of the form, or turn the form off:',
    `${origin}/app/${workspaceId}/forms`,
    '',
    'The operator of this server can raise the limit (SUBMISSIONS_PER_DAY).',
    '',
  ].join('\n'),
})
