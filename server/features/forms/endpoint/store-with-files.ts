// Stores a submission with files in drafts: first the files, synced, then their rows. Removes the files when the
// submission is certainly not stored.

import type { StorageLimit } from '../../accounts/abuse/storage-limit.ts'
import type { ByteLimiter } from '../../accounts/access/rate-limiter.ts'
import type { Mistake } from '../rules/mistake.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import type { FileReceiver } from '../uploads/receive-files.ts'
import { toTotalBytes } from '../uploads/record-files.ts'
import { spendWorkspaceUploads } from '../uploads/upload-budgets.ts'
import { EndpointError, tooManySubmissions } from './endpoint-error.ts'
import { orUnavailable } from './receive-form.ts'
import {
  type NewSubmission,
  type StoreResult,
  type StoreSubmissionNeeds,
  storeSubmission,
} from './store-submission.ts'

export interface StoreWithFilesNeeds extends StoreSubmissionNeeds {
  limiter: ByteLimiter
  /** Tells the owners when their workspace takes no more files. */
  uploadLimit: Pick<StorageLimit, 'noteReached'>
}

/** @throws EndpointError 404, 429, 503, Failure `unavailable` */
export async function storeWithFiles(
  needs: StoreWithFilesNeeds,
  form: FormSettings,
  submission: Omit<NewSubmission, 'files'>,
  files: FileReceiver | undefined,
): Promise<StoreResult> {
  if (!files || files.files.length === 0) return storeSubmission(needs, form, { ...submission, files: [] })
  const bytes = toTotalBytes(files.files)
  const { allowed, waitMs } = await spendWorkspaceUploads(needs.limiter, form.workspaceId, bytes)
  if (!allowed) {
    needs.uploadLimit.noteReached(form.workspaceId)
    throw tooManySubmissions(waitMs)
  }
  await orUnavailable(files.commit)
  try {
    const result = await storeSubmission(needs, form, { ...submission, files: files.files })
    if (typeof result === 'object') files.keep()
    if (result === 'no room') needs.uploadLimit.noteReached(form.workspaceId)
    return result
  } catch (error) {
    // A commit without an answer may have succeeded. The sweep finds out.
    if (!isCertainlyNotStored(error)) files.keep()
    throw error
  }
}

const isCertainlyNotStored = (error: unknown) =>
  error instanceof EndpointError || /^SQLITE_(?:FULL|BUSY)/.test((error as { code?: string }).code ?? '')

/** The mistake of every field with a file, where the workspace has no room for them. */
export const toRoomMistakes = ({ files }: FileReceiver) =>
  new Map(files.map(({ field }): [string, Mistake] => [field, { rule: 'fileRoom' }]))
