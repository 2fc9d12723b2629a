import { afterAll, expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHit, createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { quick } from '../../../../tests/support/suite.ts'
import { openDuckDb } from './engine.ts'

const directory = mkdtempSync(join(tmpdir(), 'ask-'))
const path = join(directory, 'hits.duckdb')

afterAll(() => rmSync(directory, { recursive: true, force: true }))

quick(
  'counts visitors that do not fit into memory in shares, exactly',
  async () => {
    const count = 200_000
    const lines = Array.from({ length: count }, (_, n) => {
      const term = `a longer term that is kept apart ${n % 1000}`
      return `${JSON.stringify(createHit({ utmTerm: term, utmContent: term, visitor: String(1 + n) }))}\n`
    })
    const file = join(directory, '1.ndjson')
    writeFileSync(file, lines.join(''))
    const ample = await openDuckDb({ path })
    await ample.load({ node: 'a', number: 1, path: file })
    await ample.close()
    const engine = await openDuckDb({ path, memoryLimitMb: 28 })
    const ask = (by: 'utmTerm' | 'utmContent') =>
      engine.ask(createHitQuery({ groupBy: { by, limit: 1000, nullAs: '' } }))
    // Each question alone would fit, with the help of the disk.
    for (const answer of await Promise.all([ask('utmTerm'), ask('utmContent'), ask('utmTerm')])) {
      expect(answer).toHaveLength(1000)
      expect(answer.every((each) => each.clicks === 200 && each.visitors === 200)).toBe(true)
    }
    await engine.close()
  },
  120_000,
)
