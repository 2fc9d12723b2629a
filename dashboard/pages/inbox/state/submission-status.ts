// The statuses of submissions: their colors, and which of them nobody was told about.

import type { SubmissionStatus } from '../../../api/submissions.ts'

export const STATUS_TONES = {
  new: 'good',
  read: 'neutral',
  archived: 'neutral',
  spam: 'bad',
  unconfirmed: 'warn',
} as const

/** Nobody was told about submissions with these statuses, and they count as no lead. */
export const isHeldBack = (status: SubmissionStatus) => status === 'spam' || status === 'unconfirmed'
