// How one setting is read: its text by name, and a report of each problem. A reader goes on after a problem, so that the
// operator sees all of them at once.

/** Everything that is wrong with the environment: `problems` has one line for each. */
export class ConfigError extends Error {
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

export type GetSetting = (name: string) => string | undefined

/** Reports a problem: the name of the setting, what is wrong, and the remedy. */
export type ProblemReporter = (name: string, what: string, fix: string) => void
