// Stores a submission that a site's own server sends with an API key: as the form endpoint does, without the checks of a
// browser (origin, captcha, limits of an address).

import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { parseIpAddress } from '../../../lib/parse-ip.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import type { AttemptCounter } from '../attempts/attempt-counter.ts'
import { countAttempt, countRefusedAttempt } from '../attempts/count-attempt.ts'
import { EndpointError } from '../endpoint/endpoint-error.ts'
import { FIELD_LIMITS, parseFields } from '../endpoint/fields.ts'
import { readJsonFields } from '../endpoint/read-body.ts'
import type { SubmissionSource } from '../endpoint/store-submission.ts'
import { requireEnabled, type SubmitNeeds, submit } from '../endpoint/submit.ts'
import { chooseLanguage } from '../rules/sender-language.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { type FormSettings, findFormSettings } from '../settings/form-settings.ts'
import { throwSubmissionNotFound } from '../submissions/get-submission.ts'
import type { SubmissionResource } from '../submissions/schema.ts'
import {
  addFilesAndOutcomes,
  type SubmissionNeeds,
  selectSubmissions,
  toSubmissionResource,
} from '../submissions/submission.ts'
import type { CreateSubmissionInput } from './schema.ts'

export interface CreateSubmissionNeeds extends SubmitNeeds, Pick<SubmissionNeeds, 'origin'> {
  attempts: Pick<AttemptCounter, 'count'>
}

/** The clock of the other server may be ahead by this much. Such a submission is sent now. */
const AHEAD_MS = 60_000
const ERRORS_MAX = 100

/**
 * @param body the JSON text of the request: an object does not keep the order and the long numbers of its fields
 * @returns null after the honeypot caught it, when nothing is stored
 * @throws Failure `forbidden`, `not_found`, `invalid`, `too_many`, `unavailable`
 */
export async function createSubmission(
  needs: CreateSubmissionNeeds,
  actor: Actor,
  formKey: string,
  { address, userAgent, pageUrl, referrer, at, trackingOptOut }: Omit<CreateSubmissionInput, 'fields'>,
  body: string,
): Promise<SubmissionResource | null> {
  allow(actor, FORMS_WRITE)
  const source = {
    at: readTime(at, needs.now()),
    address: address ? (parseIpAddress(address)?.toString() ?? '') : '',
    userAgent: userAgent ?? '',
    referer: pageUrl ?? '',
    referrer: referrer ?? '',
    trackingOptOut: trackingOptOut ?? false,
  }
  const form = await findFormSettings(needs.db, formKey)
  if (form?.workspaceId !== actor.workspaceId) throw notFound('Form')
  try {
    requireEnabled(form)
    return await storeFields(needs, actor, form, source, body)
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    // A form that is closed counts no attempts.
    if (error.status !== 403) countRefusedAttempt(needs.attempts, form.id, error)
    throw toApiFailure(error)
  }
}

/** @throws Failure `invalid` */
function readTime(at: string | null | undefined, now: number): number {
  const time = at ? Date.parse(at) : now
  if (time < now - DAY_MS) throw invalid({ at: 'must be within the last 24 hours' })
  if (time > now + AHEAD_MS) throw invalid({ at: 'must not be in the future' })
  return Math.min(time, now)
}

async function storeFields(
  needs: CreateSubmissionNeeds,
  actor: Actor,
  form: FormSettings,
  source: SubmissionSource,
  body: string,
): Promise<SubmissionResource | null> {
  const input = parseFields(await readJsonFields(body), { json: true })
  const language = chooseLanguage({ lang: input.language, acceptLanguage: null }, Object.keys(form.messages))
  const size = Buffer.byteLength(body)
  const outcome = await submit(needs, form, input, { ...source, size, language, isTrusted: true })
  countAttempt(needs.attempts, form, outcome)
  if (outcome.kind === 'invalid') {
    const errors = [...outcome.errors].slice(0, ERRORS_MAX)
    throw invalid(Object.fromEntries(errors.map(([field, message]) => [`fields.${field}`, message])))
  }
  const id = outcome.kind === 'accepted' ? outcome.id : undefined
  if (id === undefined) return null
  const { read } = needs.db
  const rows = await selectSubmissions(read, actor).where('submissions.id', '=', id).execute()
  const [row] = await addFilesAndOutcomes(read, actor, rows)
  return row ? toSubmissionResource(needs, row) : throwSubmissionNotFound()
}

function toApiFailure({ status, message, retryAfter }: EndpointError): Failure {
  if (status === 403) return new Failure('forbidden', message)
  if (status === 404) return notFound('Form')
  if (status === 413) return invalid({ fields: TOO_LARGE })
  if (status === 429) return new Failure('too_many', message, { retryAfter })
  return new Failure('unavailable', message, { retryAfter })
}

const TOO_LARGE =
  `must be at most ${FIELD_LIMITS.fields} fields, with names of at most ${FIELD_LIMITS.name} and values of at most ` +
  `${FIELD_LIMITS.value} characters`
