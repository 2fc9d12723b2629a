// Judges whether a submission is spam: the rules of its form, and the classifier of its workspace.

import type { SpamSettings } from './schema.ts'

export interface JudgedForm {
  id: number
  workspaceId: number
  spam: SpamSettings
}

export interface JudgedSubmission {
  fields: Map<string, string>
  email: string | undefined
}

/** @returns the reasons, strongest first; empty where it is no spam */
export type SpamJudge = (form: JudgedForm, submission: JudgedSubmission) => Promise<string[]>

export const createSpamJudge = (): SpamJudge => async () => []
