// Judges whether a submission is spam, by the rules of its form and the classifier of its workspace. It never refuses
// and never fails: without a judgment, a submission is not spam, so that no lead gets lost.

import { withTimeout } from '../../../lib/concurrency/with-timeout.ts'
import { isEmail } from '../../../lib/email.ts'
import { describeError, log } from '../../../lib/log.ts'
import { checkRules, type RuledForm } from './check-rules.ts'
import { classify, describeClassification, isTrained } from './classify.ts'
import { readFeatures } from './features.ts'
import type { WorkspaceSpam, WorkspaceSpamCache } from './workspace-spam.ts'

export interface JudgedForm extends RuledForm {
  id: number
  workspaceId: number
}

export interface JudgedSubmission {
  fields: Map<string, string>
  email?: string
  /** Seconds between the page view and the submission. It is called where the classifier needs it. */
  readPageSeconds?: () => number | null
}

/** @returns the reasons, strongest first; empty where it is no spam */
export type SpamJudge = (form: JudgedForm, submission: JudgedSubmission) => Promise<string[]>

/** The sender waits at most this long for the database. */
const WAIT_MS = 1_000

export const createSpamJudge =
  (cache: Pick<WorkspaceSpamCache, 'get'>): SpamJudge =>
  async (form, submission) => {
    try {
      return await judge(cache, form, submission)
    } catch (error) {
      log.error('spam_not_judged', { formId: form.id, ...describeError(error) })
      return []
    }
  }

async function judge(
  cache: Pick<WorkspaceSpamCache, 'get'>,
  form: JudgedForm,
  { fields, email, readPageSeconds }: JudgedSubmission,
): Promise<string[]> {
  if (!hasRules(form)) return []
  const found = cache.get(form.workspaceId)
  const known = found instanceof Promise ? await waitForCounts(found) : found
  if (email !== undefined && isAllowed(known, email)) return []
  const reasons = await checkRules(form, fields)
  if (!form.spam.learn || !isTrained(known.model)) return reasons
  const features = readFeatures({ fields, pageSeconds: readPageSeconds?.() ?? null })
  const classification = classify(known.model, features, known.toNumber)
  return classification.isSpam ? [...reasons, describeClassification(classification)] : reasons
}

const waitForCounts = (counts: Promise<WorkspaceSpam>) =>
  withTimeout(counts, WAIT_MS, () => {
    throw new Error(`the counts of spam were not read within ${WAIT_MS} ms`)
  })

const hasRules = ({ spam: { words, emails, domains, maxLinks, learn } }: RuledForm) =>
  learn || maxLinks !== null || words.length + emails.length + domains.length > 0

function isAllowed({ allowed }: Pick<WorkspaceSpam, 'allowed'>, email: string): boolean {
  if (allowed.size === 0 || !isEmail(email)) return false
  const address = email.toLowerCase()
  return allowed.has(address) || allowed.has(`*@${address.slice(address.lastIndexOf('@') + 1)}`)
}
