// The stages of a lead's outcome.

export const OUTCOME_STAGES = ['contacted', 'qualified', 'won', 'lost'] as const
export type OutcomeStage = (typeof OUTCOME_STAGES)[number]

/** The stage of a lead is that of its latest outcome. */
export const LEAD_STAGES = ['new', ...OUTCOME_STAGES] as const
export type LeadStage = (typeof LEAD_STAGES)[number]
