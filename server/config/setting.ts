// Reads single settings and collects every problem, so that the operator sees all of them at once.

import type { SettingName } from './setting-groups.ts'

/** The problems of the environment: `problems` has one line for each. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export type GetSetting = (name: SettingName) => string | undefined

/** Reports a problem: the name of the setting, the mistake, and the remedy. */
export type ProblemReporter = (name: string, what: string, fix: string) => void

/** A count: a whole number from 1 on. */
export function readCount(
  name: SettingName,
  get: GetSetting,
  { standard, most }: { standard: number; most: number },
  wrong: ProblemReporter,
): number {
  const text = get(name)
  if (text === undefined) return standard
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= most) return count
  wrong(name, `"${text}" is not a whole number from 1 to ${most}`, `Leave it out for ${standard}.`)
  return standard
}
