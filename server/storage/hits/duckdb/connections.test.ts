import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHitQuery } from '../../../../tests/contracts/hit-engine.ts'
import { openDuckDb } from './engine.ts'

const directory = mkdtempSync(join(tmpdir(), 'turns-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('a workspace gets its answers in its turn, however many questions another one has asked before', async () => {
  const engine = await openDuckDb({ path: join(directory, 'hits.duckdb') })
  const answered: number[] = []
  const ask = async (workspaceId: number) => {
    await engine.ask({ ...createHitQuery({ groupBy: { by: 'total' } }), workspaceId })
    answered.push(workspaceId)
  }
  const flood = Array.from({ length: 100 }, () => ask(1))
  await Promise.all([...flood, ask(2), ask(3)])
  expect(answered).toHaveLength(102)
  // Three run at once. Two more may begin while the first ones end.
  for (const workspaceId of [2, 3]) expect(answered.indexOf(workspaceId)).toBeLessThan(12)
  await engine.close()
})
