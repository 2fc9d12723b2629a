// Judges whether a submission is spam: the rules of its form, and the classifier of its workspace.

import type { FormSettings } from '../settings/form-settings.ts'

export interface JudgedSubmission {
  fields: Map<string, string>
  email: string | undefined
}

/** @returns the reasons, strongest first; empty where it is no spam */
export type SpamJudge = (form: FormSettings, submission: JudgedSubmission) => Promise<string[]>

export const createSpamJudge = (): SpamJudge => async () => []
