// Checks a submission whose body is read, in the order of docs/contract.md §7 from the honeypot on, and stores it.

import type { DiskSpace } from '../../../storage/disk-space.ts'
import type { StorageLimit } from '../../accounts/abuse/storage-limit.ts'
import type { ByteLimiter } from '../../accounts/access/rate-limiter.ts'
import type { CaptchaProvider, VerifiedToken } from '../captcha/captcha-provider.ts'
import { readConsent, requireConsent } from '../consent/read-consent.ts'
import { addRuleMistakes } from '../rules/check-fields.ts'
import { describeMistake, describeMistakes } from '../rules/describe-mistakes.ts'
import type { Mistake } from '../rules/mistake.ts'
import type { SenderLanguage } from '../rules/sender-language.ts'
import { CAPTCHA_FIELD } from '../settings/control-fields.ts'
import type { FormSettings } from '../settings/form-settings.ts'
import type { SpamJudge } from '../spam/judge-spam.ts'
import type { FileReceiver } from '../uploads/receive-files.ts'
import { toTotalBytes } from '../uploads/record-files.ts'
import { spendWorkspaceRoom, spendWorkspaceUploads } from './byte-budgets.ts'
import { EndpointError } from './endpoint-error.ts'
import { isBlankSubmission, type SubmissionInput, validateFields } from './fields.ts'
import { orUnavailable } from './receive-form.ts'
import type { SubmissionOutcome } from './responses.ts'
import {
  type NewSubmission,
  type StoreResult,
  type StoreSubmissionNeeds,
  type SubmissionSource,
  storeSubmission,
  toPageSeconds,
} from './store-submission.ts'

export interface SubmitNeeds extends StoreSubmissionNeeds {
  limiter: ByteLimiter
  /** Tells the owners when their workspace takes no more files. */
  uploadLimit: Pick<StorageLimit, 'noteReached'>
  submissionLimit: StorageLimit
  disk: Pick<DiskSpace, 'isLow' | 'hasRoomFor'>
  captcha: CaptchaProvider
  judgeSpam: SpamJudge
}

/** A submission apart from its fields. */
export interface SubmissionRequest extends SubmissionSource {
  /** Bytes. */
  size: number
  language: SenderLanguage
  files?: FileReceiver | undefined
  /** An API key vouches for the sender: no captcha is asked. */
  isTrusted?: true
}

export const RETRY_AFTER_SECONDS = 60

/** @throws EndpointError 403 */
export function requireEnabled({ suspended, enabled }: Pick<FormSettings, 'suspended' | 'enabled'>): void {
  if (suspended) throw new EndpointError(403, 'Form is suspended by the operator of this server')
  if (!enabled) throw new EndpointError(403, 'Form is disabled')
}

/** Checks honeypot, fields and captcha, in this order, and stores the submission. @throws EndpointError 404, 429, 503 */
export async function submit(
  needs: SubmitNeeds,
  form: FormSettings,
  input: SubmissionInput,
  { size, language, files, isTrusted, ...source }: SubmissionRequest,
): Promise<SubmissionOutcome> {
  // A robot gets the same answer as a person, and nothing is stored.
  if (input.trapped) return { kind: 'accepted', trapped: true }
  const texts = { language, messages: form.messages }
  const captcha = (rule: 'captchaRequired' | 'captchaFailed'): SubmissionOutcome => {
    return { kind: 'captcha', error: describeMistake(texts, CAPTCHA_FIELD, { rule }) }
  }
  const refuse = (found: Awaited<ReturnType<typeof findMistakes>>): SubmissionOutcome => {
    return { kind: 'invalid', errors: describeMistakes(texts, found), mistakes: found }
  }
  const mistakes = await findMistakes(form, input, files)
  if (mistakes.size > 0) return refuse(mistakes)
  requireRoom(needs)
  // The captcha comes last, because a token works once and must survive a mistake in a field.
  let token: VerifiedToken | undefined
  if (form.captcha && !isTrusted) {
    if (input.token === undefined) return captcha('captchaRequired')
    const { formKey, allowedOrigins: origins } = form
    token = await needs.captcha.check({ formKey, token: input.token, address: source.address, origins })
    if (!token) return captcha('captchaFailed')
  }
  // Only what would be stored counts: nobody uses the workspace's budget up with submissions that are refused.
  const spending = spendWorkspaceRoom(needs, form.workspaceId, size)
  if (spending) await spending
  const isBlank = isBlankSubmission(input) && !files?.files.length
  const spamReasons = isBlank
    ? ['Every field is blank.']
    : await needs.judgeSpam(form, {
        ...input,
        readPageSeconds: () => (source.trackingOptOut ? null : readPageSeconds(needs, form, input, source)),
      })
  const submission = {
    ...source,
    fields: input.fields,
    spamReasons,
    consent: readConsent(form.consent, input),
    language: language.known,
    email: input.email,
    eventId: input.eventId,
    pageView: input.pageView,
    token,
  }
  const result = await storeWithFiles(needs, form, submission, files)
  if (result === 'no room' && files) return refuse(toRoomMistakes(files))
  if (typeof result === 'string') return captcha('captchaFailed')
  return { kind: 'accepted', id: result.id, isSpam: spamReasons.length > 0 }
}

/** The first mistake of each field, including those of the form's rules and of files. */
async function findMistakes(form: FormSettings, input: SubmissionInput, files: FileReceiver | undefined) {
  const mistakes = validateFields(input, form.requiredFields, form.rules)
  for (const [field, mistake] of files?.mistakes ?? []) if (!mistakes.has(field)) mistakes.set(field, mistake)
  requireConsent(mistakes, form, input)
  const fileFields = new Set([...input.files, ...(files?.files ?? []).map(({ field }) => field)])
  await addRuleMistakes(mistakes, form.rules, { ...input, files: fileFields })
  return mistakes
}

/**
 * Stores the files first, synced, then the submission with their rows. Removes the files when the submission is certainly
 * not stored. @throws EndpointError 404, 429, 503, Failure `unavailable`
 */
async function storeWithFiles(
  needs: SubmitNeeds,
  form: FormSettings,
  submission: Omit<NewSubmission, 'files'>,
  files: FileReceiver | undefined,
): Promise<StoreResult> {
  if (!files || files.files.length === 0) return storeSubmission(needs, form, { ...submission, files: [] })
  await spendWorkspaceUploads(needs, form.workspaceId, toTotalBytes(files.files))
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
const toRoomMistakes = ({ files }: FileReceiver) =>
  new Map(files.map(({ field }): [string, Mistake] => [field, { rule: 'fileRoom' }]))

function readPageSeconds(
  { matchVisit }: SubmitNeeds,
  { workspaceId }: FormSettings,
  { eventId, pageView }: SubmissionInput,
  { at, referer }: SubmissionSource,
): number | null {
  const { visit } = matchVisit({ at, workspaceId, eventId, referer })
  return visit && pageView === undefined ? toPageSeconds(visit, at) : null
}

/**
 * Refuses before the disk is full, so that every acknowledged submission is stored. PostgreSQL has its own disk.
 * @throws EndpointError 503
 */
function requireRoom({ db, disk }: SubmitNeeds): void {
  if (db.engine === 'sqlite' && disk.isLow()) {
    throw new EndpointError(503, 'Temporarily unavailable', RETRY_AFTER_SECONDS)
  }
}
