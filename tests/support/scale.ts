// Sets the size of the long tests: small in `npm test`, large in `npm run soak`, which runs before a release.

interface Scale<T> {
  test: T
  soak: T
}

/** @returns the amount for this run: kill rounds, random bodies, fast-check runs */
export const atScale = <T>({ test, soak }: Scale<T>): T => (process.env.TEST_SCALE === 'soak' ? soak : test)
