// Limits on the rows and files that strangers may store in a workspace through its forms. Owners are notified when
// leads or files are refused.

import { createStorageLimit, type StorageLimit } from '../../accounts/abuse/storage-limit.ts'
import { mailOwners, type OwnersMail } from '../../accounts/workspaces/mail-owners.ts'

type OwnersNeeds = Parameters<typeof mailOwners>[0]

interface LimitSettings {
  origin: string
  submissionsPerDay: number
  uploadBytesPerWorkspace: number
}

export interface FormStorageLimits {
  submissionLimit: StorageLimit
  /** Counts nothing by itself: the rows say how many bytes a workspace has. */
  uploadLimit: Pick<StorageLimit, 'noteReached' | 'metrics'>
}

export function createFormStorageLimits(
  owners: OwnersNeeds,
  { origin, submissionsPerDay, uploadBytesPerWorkspace }: LimitSettings,
  clock?: () => number,
): FormStorageLimits {
  const mailOnce = (toMail: (origin: string, workspaceId: number) => OwnersMail) => (workspaceId: number) =>
    void mailOwners(owners, workspaceId, toMail(origin, workspaceId))
  return {
    submissionLimit: createStorageLimit({
      kind: 'submissions',
      perWorkspace: submissionsPerDay,
      clock,
      onReached: mailOnce(toRefusedSubmissionsMail),
    }),
    uploadLimit: createStorageLimit({
      kind: 'uploads',
      perWorkspace: uploadBytesPerWorkspace,
      clock,
      onReached: mailOnce(toRefusedUploadsMail),
    }),
  }
}

/** The mail to the owners of a workspace that has stored as many submissions as it may. */
const toRefusedSubmissionsMail = (origin: string, workspaceId: number): OwnersMail => ({
  about: 'refused submissions',
  subject: 'Your forms are rejecting submissions',
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

/** The same for a workspace that has reached its limit of files. */
const toRefusedUploadsMail = (origin: string, workspaceId: number): OwnersMail => ({
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
