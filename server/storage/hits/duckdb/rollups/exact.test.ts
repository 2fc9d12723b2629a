import { join } from 'node:path'
import { testRollUps } from '../../../../../tests/contracts/hit-rollups.ts'
import { openDuckDb } from '../engine.ts'

testRollUps('DuckDB', {
  // Small runs: hits are sorted between questions.
  open: (directory) =>
    openDuckDb({ path: join(directory, 'hits.duckdb'), runHits: 500, rollUpRestMs: 0, rollUpHeadValues: 3 }),
  days: { quick: 32, full: 45, soak: 75 },
  worlds: { quick: 1, full: 2, soak: 24 },
  questions: { quick: 50, full: 350, soak: 850 },
})
