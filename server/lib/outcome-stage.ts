// The stages of an outcome: what became of a lead.

export const OUTCOME_STAGES = ['qualified', 'won', 'lost'] as const
export type OutcomeStage = (typeof OUTCOME_STAGES)[number]
