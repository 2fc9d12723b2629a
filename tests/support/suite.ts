// The suites, from one set of files. A test declares its suite by a word: `npm test` runs what is quick, `npm run
// test:full` everything, and `npm run soak` more of the same. tests/README.md says which word to choose.

import { beforeEach, describe, test } from 'bun:test'

export const SUITES = ['quick', 'full', 'soak'] as const

export type Suite = (typeof SUITES)[number]

/** The suite that runs. `bun test` alone runs everything of the files that it is given. */
export const SUITE: Suite = SUITES.find((suite) => suite === process.env.TEST_SUITE) ?? 'full'

interface Amounts<T> {
  /** By default as many as in the full suite. */
  quick?: T
  full: T
  soak: T
}

/** @returns the amount for the suite that runs: kill rounds, random bodies, cases of fast-check */
export const atScale = <T>({ quick, full, soak }: Amounts<T>): T =>
  ({ quick: quick ?? full, full, soak })[SUITE]

type Body = () => unknown

const declareTest = (name: string, body: Body, timeoutMs?: number) =>
  void test(name, body as () => Promise<unknown>, timeoutMs)

interface SuiteWord {
  (name: string, body: Body, timeoutMs?: number): void
  /** For several tests. */
  describe(name: string, tests: () => void): void
  each<Row>(
    rows: readonly Row[],
    // biome-ignore lint/suspicious/noExplicitAny: a row that is an array comes as its values
  ): (name: string, body: (...row: any[]) => unknown, timeoutMs?: number) => void
}

const leaveOut: SuiteWord = Object.assign(() => {}, { describe: () => {}, each: () => () => {} })

const declare: SuiteWord = Object.assign(declareTest.bind(undefined), {
  describe: (name: string, tests: () => void) => void describe(name, tests),
  // biome-ignore lint/suspicious/noExplicitAny: Bun's types want a tuple or a single value, and take both
  each: <Row>(rows: readonly Row[]) => test.each(rows as any) as ReturnType<SuiteWord['each']>,
})

/** A test of the full suite: `npm test` leaves it out. A file whose tests are all full ends in `.full.test.ts`. */
export const full: SuiteWord = SUITE === 'quick' ? leaveOut : declare

/** A test of the soak only: it takes minutes, or needs something that few machines have. */
export const soak: SuiteWord = SUITE === 'soak' ? declare : leaveOut

/** A quick test that may take more than its budget (support/run/costs.ts), because nothing cheaper protects the same. */
export const quick: SuiteWord = Object.assign(
  (name: string, body: Body, timeoutMs?: number) =>
    quick.describe('', () => declareTest(name, body, timeoutMs)),
  {
    describe: (name: string, tests: () => void) =>
      void describe(name, () => {
        beforeEach(liftBudget)
        tests()
      }),
    // biome-ignore lint/suspicious/noExplicitAny: as above
    each: (rows: readonly any[]) => (name: string, body: any, timeoutMs?: number) =>
      quick.describe('', () => void declare.each(rows)(name, body, timeoutMs)),
  },
)

let lifted = false

function liftBudget() {
  lifted = true
}

/** @returns whether the test that ends now said `quick`. costs.ts asks after each test. */
export function takeLiftedBudget(): boolean {
  const wasLifted = lifted
  lifted = false
  return wasLifted
}
