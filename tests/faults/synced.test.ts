// No 201 leaves before the disk has what it acknowledges: seen from outside, in the calls to the kernel. This is what a
// power cut would show.

import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeHouse } from './real-server.ts'
import { noStrace, traced, type Watched, watch } from './strace.ts'

const LINKS = 40
const reason = noStrace()
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

/** Makes links one after the other, then some at once, and tells what the disk saw. */
async function watchServer(bun: string[]): Promise<Watched> {
  const house = await makeHouse(1)
  ends.push(house.end)
  const trace = join(house.dataDir, 'trace')
  const server = await house.start({ through: traced(trace), bun })
  const key = house.keys[0] as string
  const create = async (slug: string) => {
    const { status } = await server.api(key, '/links', { slug, destinationUrl: 'https://example.com/' })
    expect(status).toBe(201)
  }
  // Its first use notes when a key was used: a write of its own.
  await create('first')
  for (let i = 1; i < LINKS; i++) await create(`alone-${i}`)
  await Promise.all(Array.from({ length: LINKS }, (_, i) => create(`together-${i}`)))
  // strace holds our end of the outputs as well: both closed, it has written everything.
  await server.stop()
  return watch(readFileSync(trace, 'utf8'), { log: 'towpath.db-wal', answer: '"HTTP/1.1 201 ' })
}

describe.skipIf(reason !== undefined)(`power loss${reason ? ` (skipped: strace: ${reason})` : ''}`, () => {
  test('costs nothing that was acknowledged: every 201 leaves after its sync', async () => {
    const { answers, early, unwritten, syncs } = await watchServer([])
    expect({ answers, early }).toEqual({ answers: 2 * LINKS, early: 0 })
    // Those made together share commits; each of the others had one of its own.
    expect(unwritten).toBeLessThan(LINKS)
    expect(syncs).toBeGreaterThanOrEqual(LINKS)
  }, 30_000)

  test('would cost something with synchronous=NORMAL, and this test would see it', async () => {
    const { answers, early } = await watchServer([
      '--preload',
      join(import.meta.dir, 'synchronous-normal.ts'),
    ])
    expect(answers).toBe(2 * LINKS)
    expect(early).toBeGreaterThan(LINKS)
  }, 30_000)
})
