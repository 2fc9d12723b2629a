// How much the long tests do: enough to notice a mistake in `npm test`, and in `npm run soak` as much as before a release.

interface Scale<T> {
  test: T
  soak: T
}

/** @returns the amount for this run: kill rounds, random bodies, fast-check runs */
export const atScale = <T>({ test, soak }: Scale<T>): T => (process.env.TEST_SCALE === 'soak' ? soak : test)
