// POST /v1/forms/{formKey}/submissions: stores a submission that a site's own server sends with an API key. It does what the
// form endpoint does, without the checks of a browser: origin, captcha and the limits of an address.

import { z } from '@hono/zod-openapi'
import { apiRoute, dataResponse, jsonRequestBody } from '../../../http/api-route.ts'
import { Failure, invalid, notFound } from '../../../lib/failure.ts'
import { orderedJson } from '../../../lib/formats/ordered-json.ts'
import { parseIpAddress } from '../../../lib/parse-ip.ts'
import { DAY_MS } from '../../../lib/utc-day.ts'
import { type Actor, allow } from '../../accounts/access/actor.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import type { AttemptCounter } from '../attempts/attempt-counter.ts'
import { countAttempt, countRefusedAttempt } from '../attempts/count-attempt.ts'
import { EndpointError } from '../endpoint/endpoint-error.ts'
import { FIELD_LIMITS, parseFields } from '../endpoint/fields.ts'
import { readJsonFields } from '../endpoint/read-body.ts'
import type { SubmissionSource } from '../endpoint/store-submission.ts'
import { requireEnabled, type SubmitNeeds, submit } from '../endpoint/submit.ts'
import { chooseLanguage } from '../rules/sender-language.ts'
import { FormKeyParameter } from '../schema.ts'
import { FORMS_WRITE } from '../settings/form.ts'
import { type FormSettings, findFormSettings } from '../settings/form-settings.ts'
import { throwSubmissionNotFound } from '../submissions/get-submission.ts'
import { type SubmissionResource, SubmissionShape } from '../submissions/schema.ts'
import {
  addFilesAndOutcomes,
  type SubmissionNeeds,
  selectSubmissions,
  toSubmissionResource,
} from '../submissions/submission.ts'
import { CreateSubmission, type CreateSubmissionInput } from './schema.ts'

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

const route = apiRoute({
  tags: ['Submissions'],
  method: 'post',
  path: '/forms/{formKey}/submissions',
  scope: 'submissions:write',
  operationId: 'createSubmission',
  summary: "Store a submission from your site's own server",
  description:
    'For a server that takes the form itself. It is checked, judged, announced and answered as one that a browser posts to ' +
    'the form, but no captcha and no origin is asked, and the limit of an address does not hold. Files are not taken. A ' +
    'mistake in a field is named as `fields.<name>`. A form that is disabled refuses it with 403.',
  request: {
    params: FormKeyParameter,
    body: jsonRequestBody(CreateSubmission, {
      fields: { name: 'Ada Lovelace', email: 'ada@example.com', message: 'Please call me back.' },
      address: '203.0.113.7',
      pageUrl: 'https://example.com/contact?utm_source=news',
    }),
  },
  responses: {
    200: dataResponse(
      z.null(),
      'Caught by the honeypot: it is not stored, and the sender should see a success',
    ),
    201: dataResponse(SubmissionShape, 'The stored submission'),
  },
  fails: [404],
})

export const createSubmissionApi = (needs: CreateSubmissionNeeds) =>
  createApi().openapi(route, async (c) => {
    const { formKey } = c.req.valid('param')
    const { fields: _, ...input } = c.req.valid('json')
    const forThis = { ...needs, db: c.get('db') }
    const data = await createSubmission(forThis, c.get('actor'), formKey, input, await c.req.text())
    if (data === null) return c.json({ data }, 200)
    return c.body(orderedJson({ data }), 201, { 'Content-Type': 'application/json' }) as never
  })
