// The email to the owners of a workspace whose forms refuse files, because it has reached its storage limit.

import type { OwnersMail } from '../../accounts/workspaces/mail-owners.ts'

export const toRefusedUploadsMail = (origin: string, workspaceId: number): OwnersMail => ({
  about: 'refused uploads',
  subject: 'Your forms are rejecting files',
  text: [
    'The forms of your workspace have received as many files as this server keeps for one workspace, or very many in one hour.',
    'They reject further files and tell the senders. Submissions without files still arrive. No stored file is lost.',
    '',
    'To make room, delete submissions whose files you no longer need:',
    `${origin}/app/${workspaceId}/inbox`,
    '',
    'The operator of this server can raise the limit (UPLOAD_BYTES_PER_WORKSPACE).',
    '',
  ].join('\n'),
})
