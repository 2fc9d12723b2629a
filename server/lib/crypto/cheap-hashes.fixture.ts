// Real Argon2id hashes at a thousandth of the cost, for tests that do not test the cost.

import { afterAll, beforeAll, spyOn } from 'bun:test'

const CHEAP = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const
const { hash } = Bun.password

/** Passwords that are set during the tests of a file. A hash names its cost, so checking it is cheap too. */
export function useCheapHashes(): void {
  let cheap: { mockRestore(): void }
  beforeAll(() => {
    cheap = spyOn(Bun.password, 'hash').mockImplementation((password) => hash(password, CHEAP))
  })
  afterAll(() => cheap.mockRestore())
}
