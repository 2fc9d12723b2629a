// Checks the settings, with the messages of a refused start.

import { type CheckResult, ok, problem } from '../finding.ts'
import type { DoctorNeeds } from '../needs.ts'

export async function checkConfiguration({ configProblems }: DoctorNeeds): Promise<CheckResult[]> {
  if (configProblems.length === 0) return [ok('Every setting is valid.')]
  return configProblems.map((sentence) => {
    const [what, fix] = splitSentence(sentence)
    return problem(`The server does not start: ${what}`, fix)
  })
}

/** `NAME: what is wrong. The fix.` */
function splitSentence(sentence: string): [what: string, fix: string] {
  const end = sentence.indexOf('. ')
  return end === -1
    ? [sentence, 'Correct this setting.']
    : [sentence.slice(0, end + 1), sentence.slice(end + 2)]
}
