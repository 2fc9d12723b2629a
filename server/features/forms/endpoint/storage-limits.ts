// Limits on the rows and files that strangers may store in a workspace through its forms. Owners are told when leads or
// files are refused.

import { createStorageLimit, type StorageLimit } from '../../accounts/abuse/storage-limit.ts'
import { mailOwners, type OwnersMail } from '../../accounts/workspaces/mail-owners.ts'
import { toRefusedUploadsMail } from '../uploads/refused-uploads-mail.ts'
import { toRefusedSubmissionsMail } from './refused-submissions-mail.ts'

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
