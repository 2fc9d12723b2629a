// The stages of outcomes as the inbox names and colors them, and an outcome in a few words.

import type { Submission } from '../../../api/submissions.ts'
import { formatMoney } from '../../../ui/format.ts'

type LeadOutcome = Submission['outcomes'][number]
type Stage = LeadOutcome['stage']

export const STAGE_LABELS: Record<Stage, string> = {
  contacted: 'Contacted',
  qualified: 'Qualified',
  won: 'Won',
  lost: 'Lost',
}
export const STAGE_TONES = { contacted: 'neutral', qualified: 'neutral', won: 'good', lost: 'bad' } as const

/** `Won €1,300.00` */
export const describeStage = ({ stage, value, currency }: LeadOutcome) =>
  value === null || currency === null
    ? STAGE_LABELS[stage]
    : `${STAGE_LABELS[stage]} ${formatMoney(value, currency)}`
