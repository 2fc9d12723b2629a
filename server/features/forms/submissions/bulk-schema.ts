// The shapes of changes and deletions of many submissions.

import { z } from '@hono/zod-openapi'
import { idList, oneOf, wholeNumber } from '../../../lib/api-fields.ts'
import { assigneeInput, SET_STATUSES, SUBMISSION_STATUSES } from './schema.ts'

const BULK_MAX = 100

export const UpdateSubmissions = z
  .strictObject({
    ids: z
      .array(wholeNumber(1), { error: 'must be a list of submission ids' })
      .min(1, 'must have at least one id')
      .max(BULK_MAX, `must be at most ${BULK_MAX} ids`),
    status: oneOf(SET_STATUSES).optional().openapi({ example: 'archived' }),
    assigneeId: assigneeInput,
  })
  .refine(({ status, assigneeId }) => status !== undefined || assigneeId !== undefined, {
    path: ['status'],
    message: `must be one of ${SET_STATUSES.join(', ')}`,
  })
  .openapi('UpdateSubmissions', { anyOf: [{ required: ['status'] }, { required: ['assigneeId'] }] })
export type UpdateSubmissionsInput = z.infer<typeof UpdateSubmissions>

export const SubmissionIds = z.strictObject({ ids: idList(BULK_MAX) })

/** The answer of a bulk request has no fields, because a submission can have a megabyte of them. */
export const SubmissionStateShape = z
  .strictObject({ id: z.int(), status: z.enum(SUBMISSION_STATUSES) })
  .openapi('SubmissionState')
export type SubmissionState = z.infer<typeof SubmissionStateShape>
