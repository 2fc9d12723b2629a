// The statuses of submissions: their colors, and whether they were announced.

import type { SubmissionStatus } from '../../../api/submissions.ts'

export const STATUS_TONES = {
  new: 'good',
  read: 'neutral',
  archived: 'neutral',
  spam: 'bad',
  unconfirmed: 'warn',
} as const

/** Submissions with these statuses were not announced and do not count as leads. */
export const isHeldBack = (status: SubmissionStatus) => status === 'spam' || status === 'unconfirmed'
